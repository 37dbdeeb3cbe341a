//! A thread: a Wasm instance over its process's memory, run on a coroutine.
//!
//! A kernel call that waits suspends the coroutine and leaves no frame of ours behind. `stack.rs` is what it
//! runs on, `trap.rs` how it ends early.

use crate::coroutine::{Control, Coroutine};
use crate::memory::{ProcessMemory, lend};
use crate::program::{Loaded, Program};
use crate::stack::Stacks;
use crate::trap;
use alloc::sync::Arc;
use satrap_abi::{Errno, ExitStatus, artifact};
use satrap_kernel::engine::{Calls, Entry, Pause, Resume};
use wasmtime::{Func, Instance, ModuleExport, Store, Val};
use wasmtime_environ::{HostPtr, PtrSize};

/// What a thread's kernel calls find: the kernel's side and the engine's.
pub(crate) struct State<C> {
    pub(crate) calls: C,
    pub(crate) control: Arc<Control>,
}

/// A thread of a process.
pub struct Thread(Coroutine);

impl satrap_kernel::engine::Thread for Thread {
    #[inline]
    fn resume(&mut self, how: Resume) -> Pause {
        self.0.resume(how)
    }
}

impl Thread {
    /// A thread that has not run yet. Everything that can fail, fails here.
    pub(crate) fn new<C: Calls>(
        program: &Program<C>,
        memory: &Arc<ProcessMemory>,
        entry: Entry,
        stack: u32,
        stacks: &Arc<Stacks>,
        calls: C,
    ) -> Result<Thread, Errno> {
        let stack = stacks.take(stack)?;
        let loaded = program.0.clone();
        let control = Control::new(loaded.trap_pc);
        let mut guest = Guest::new(loaded, memory, entry, calls, control.clone())?;
        guest.limit_stack(stack.wasm_limit())?;
        let body = move |first| match first {
            Resume::Run => guest.run(),
            Resume::Die => ExitStatus::Killed,
        };
        Ok(Thread(Coroutine::new(control, stack, stacks.clone(), body)))
    }
}

/// An instance and where to enter it. The program outlives the store, whose code it holds.
struct Guest<C: 'static> {
    store: Store<State<C>>,
    /// Called before the entry: the program's start function, for its first thread.
    start: Option<Func>,
    entry: Func,
    arguments: Arguments,
    control: Arc<Control>,
    _program: Arc<Loaded<C>>,
}

/// What the entry is called with, and what its result means.
enum Arguments {
    /// `() -> i32`, the exit code.
    Code,
    /// `() -> ()`.
    Nothing,
    /// `(i32, i32) -> i32`: no arguments in C's manner, and the exit code.
    Count,
    /// `(i32, i32) -> ()`: a further thread.
    Thread(u32, u32),
}

impl<C: Calls> Guest<C> {
    fn new(
        program: Arc<Loaded<C>>,
        memory: &Arc<ProcessMemory>,
        entry: Entry,
        calls: C,
        control: Arc<Control>,
    ) -> Result<Guest<C>, Errno> {
        let state = State {
            calls,
            control: control.clone(),
        };
        let mut store = Store::new(program.instance.module().engine(), state);
        let instance = lend(memory, || program.instance.instantiate(&mut store));
        let instance = instance.map_err(|_| Errno::NoMemory)?;
        let exports = &program.exports;
        let (start, entry, arguments) = match entry {
            Entry::Main => {
                let arguments = match program.entry {
                    artifact::Entry::SatrapMain => Arguments::Code,
                    artifact::Entry::Start => Arguments::Nothing,
                    artifact::Entry::Main => Arguments::Count,
                };
                (exports.start.as_ref(), exports.entry.as_ref(), arguments)
            }
            Entry::Thread {
                function,
                argument,
                stack_top,
            } => {
                set_stack_pointer(&mut store, &instance, exports.stack.as_ref(), stack_top)?;
                (
                    None,
                    exports.thread.as_ref(),
                    Arguments::Thread(function, argument),
                )
            }
        };
        let mut function = |export: Option<&ModuleExport>| {
            let export = instance.get_module_export(&mut store, export?)?;
            export.into_func()
        };
        let (start, entry) = (function(start), function(entry).ok_or(Errno::Unsupported)?);
        Ok(Guest {
            store,
            start,
            entry,
            arguments,
            control,
            _program: program,
        })
    }

    /// Sets the address below which Wasm code must not push.
    ///
    /// wasmtime has one such limit for an engine and takes it from the stack pointer at the first call, unless
    /// there is one already, in the store's context that compiled code reads at each function's entry. Stacks
    /// differ from process to process, so it is put there beforehand; the offsets are wasmtime's own.
    fn limit_stack(&mut self, limit: usize) -> Result<(), Errno> {
        let function = self.entry.to_raw(&mut self.store).cast::<u8>();
        let offset = |offset: u8| usize::from(offset);
        // SAFETY: a raw function is a `VMFuncRef`, whose `vmctx` is the `VMContext` of the instance that we
        // made, which points to the `VMStoreContext` of our store; both live as long as the store. The crate's
        // version is pinned, and the offsets come from the crate that lays these structures out.
        unsafe {
            let context = function
                .add(offset(HostPtr.vm_func_ref().vmctx()))
                .cast::<*mut u8>()
                .read();
            let store = context
                .add(offset(HostPtr.vmcontext_store_context()))
                .cast::<*mut u8>()
                .read();
            let field = store
                .add(offset(HostPtr.vm_store_context().stack_limit()))
                .cast::<usize>();
            // A store that has not run has no limit. Anything else means that this is not the field.
            if field.read() != usize::MAX {
                return Err(Errno::Unsupported);
            }
            field.write(limit);
        }
        Ok(())
    }

    fn run(mut self) -> ExitStatus {
        match self.enter() {
            Ok(code) => ExitStatus::Code(code),
            Err(error) => trap::status(&self.control, &error),
        }
    }

    fn enter(&mut self) -> wasmtime::Result<i32> {
        let store = &mut self.store;
        if let Some(start) = self.start {
            start.typed::<(), ()>(&*store)?.call(&mut *store, ())?;
        }
        let entry = self.entry;
        match self.arguments {
            Arguments::Code => entry.typed::<(), i32>(&*store)?.call(store, ()),
            Arguments::Nothing => entry.typed::<(), ()>(&*store)?.call(store, ()).map(|()| 0),
            Arguments::Count => entry.typed::<(i32, i32), i32>(&*store)?.call(store, (0, 0)),
            Arguments::Thread(function, argument) => entry
                .typed::<(u32, u32), ()>(&*store)?
                .call(store, (function, argument))
                .map(|()| 0),
        }
    }
}

fn set_stack_pointer<T: 'static>(
    store: &mut Store<T>,
    instance: &Instance,
    export: Option<&ModuleExport>,
    stack_top: u32,
) -> Result<(), Errno> {
    export
        .and_then(|export| instance.get_module_export(&mut *store, export)?.into_global())
        .and_then(|global| global.set(store, Val::I32(stack_top as i32)).ok())
        .ok_or(Errno::Unsupported)
}
