//! Contract tables: what the kernel enforces at every endpoint.
