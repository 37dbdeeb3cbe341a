//! The coordinator: topology, launch, namespace, install, placement, supervision, control API.
