//! Placement by affinity, and its explanation.
