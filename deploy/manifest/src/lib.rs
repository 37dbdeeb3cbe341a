//! Application manifests: TOML in, checked values or exact diagnostics out.
