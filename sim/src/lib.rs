//! Whole kernels in one thread, virtual time, one seed, and checkers.
