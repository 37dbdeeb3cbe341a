//! The contract compiler: WIT with a protocol, its checks and its code generator.
