//! Limits on this process: a hostile program may make the code generator run long or grow large, and then only
//! this process ends.

use rustix::io::Result;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Limits address space, in bytes, and CPU time, in seconds; writes no core file. A limit that is tighter
/// already stays.
pub fn set(memory: u64, seconds: u64) -> Result<()> {
    tighten(Resource::As, memory)?;
    tighten(Resource::Cpu, seconds)?;
    tighten(Resource::Core, 0)
}

fn tighten(resource: Resource, limit: u64) -> Result<()> {
    let now = getrlimit(resource);
    let least = |old: Option<u64>| Some(old.map_or(limit, |old| old.min(limit)));
    setrlimit(
        resource,
        Rlimit {
            current: least(now.current),
            maximum: least(now.maximum),
        },
    )
}
