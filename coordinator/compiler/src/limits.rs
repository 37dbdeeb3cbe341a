//! Limits on this process: a hostile program may make the code generator run long or grow large, and then only
//! this process ends.

use rustix::io::Result;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Limits address space, in bytes, and CPU time, in seconds; writes no core file. A limit that is tighter
/// already stays. Beyond them an allocation fails, which aborts (SIGABRT), or SIGXCPU comes.
pub fn set(memory: u64, seconds: u64) -> Result<()> {
    tighten(Resource::As, memory)?;
    tighten(Resource::Cpu, seconds)?;
    tighten(Resource::Core, 0)
}

/// Lowers the soft limit. The hard one stays, because reaching it means SIGKILL, which tells nobody the cause;
/// the program that is compiled never runs here, so it cannot raise the soft one.
fn tighten(resource: Resource, limit: u64) -> Result<()> {
    let now = getrlimit(resource);
    let current = now.current.map_or(limit, |old| old.min(limit));
    setrlimit(
        resource,
        Rlimit {
            current: Some(current),
            maximum: now.maximum,
        },
    )
}
