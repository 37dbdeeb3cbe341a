//! The satellite kernel.
