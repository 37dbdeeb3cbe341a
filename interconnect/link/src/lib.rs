//! Links between satellites: rings, doorbells, and their conformance suite.
