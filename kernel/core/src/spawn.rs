//! Starting processes and threads.
//!
//! Limits are checked before anything is made, and a process whose first thread cannot start is forgotten
//! again. `process.rs` and `task.rs` are what comes out; `satellite.rs` takes the coordinator's request.

use crate::{
    CallContext,
    engine::{Engine, Entry},
    event::Event,
    platform::Platform,
    process::Process,
    satellite::Satellite,
    task::{Body, Task},
};
use alloc::sync::Arc;
use satrap_abi::{Errno, control::ProcessSpec, limits::WASM_PAGE};

/// Starts a process.
///
/// # Errors
/// [`Errno::NotFound`] if its program is not loaded, [`Errno::LimitReached`] if the program wants more memory
/// at its start than its limit, [`Errno::NoMemory`] if the satellite has none.
pub(crate) fn process<P: Platform>(satellite: &Arc<Satellite<P>>, spec: ProcessSpec) -> Result<(), Errno> {
    let program = satellite.program(&spec.artifact)?;
    if u64::from(crate::engine::Program::initial_pages(&program)) * u64::from(WASM_PAGE) > spec.limits.memory
    {
        return Err(Errno::LimitReached);
    }
    let memory = satellite.platform().engine().new_memory(&program)?;
    let process = Process::new(spec, program, memory);
    satellite.admit(process.clone());
    thread(satellite, &process, satellite.choose_cpu(), Entry::Main)
        .map(drop)
        .inspect_err(|_| satellite.forget(process.id))
}

/// Starts a thread of a process on `cpu`, where its other threads are, and returns its number.
///
/// # Errors
/// [`Errno::LimitReached`] at the process's limit of threads, [`Errno::NoMemory`] if there is no stack.
pub(crate) fn thread<P: Platform>(
    satellite: &Arc<Satellite<P>>,
    process: &Arc<Process<P>>,
    cpu: usize,
    entry: Entry,
) -> Result<u32, Errno> {
    let mut threads = process.threads.lock();
    if threads.live.len() as u32 >= process.limits.threads {
        return Err(Errno::LimitReached);
    }
    let number = threads.number();
    drop(threads);
    let task = Task::new(
        satellite.clone(),
        Some((process.clone(), number)),
        cpu,
        process.priority,
    );
    let context = CallContext::new(satellite.clone(), process.clone(), &task, number);
    let engine = satellite.platform().engine();
    let memory = process.memory.clone();
    let thread = engine.new_thread(&process.program, memory, entry, process.limits.stack, context)?;
    task.consist_of(Body::Thread(thread));
    process
        .threads
        .lock()
        .live
        .insert(number, (task.clone(), Arc::new(Event::default())));
    alloc::task::Wake::wake(task);
    Ok(number)
}
