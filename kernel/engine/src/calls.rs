//! The import module: one small function for each kernel call, from Wasm's registers to [`Calls`] and back.
//!
//! A call that ends its thread becomes an error that unwinds through wasmtime. On its way back into Wasm every
//! call looks whether an interrupt asked for the CPU meanwhile; that is one load.

use crate::coroutine::pause;
use crate::thread::State;
use crate::trap;
use satrap_abi::ExitStatus;
use satrap_abi::call::MODULE;
use satrap_kernel::engine::{Call, Calls, End, Pause, Resume};
use wasmtime::{Caller, Engine, Linker, Result};

/// The way back into Wasm.
#[inline(always)]
fn back<C, T>(caller: &Caller<'_, State<C>>, result: Call<T>) -> Result<T> {
    match result {
        Ok(value) if !caller.data().control.pending() => Ok(value),
        Ok(value) => preempt().map(|()| value),
        Err(end) => Err(trap::error(end)),
    }
}

/// Gives up the CPU that an interrupt asked for.
#[cold]
fn preempt() -> Result<()> {
    match pause(Pause::Preempted) {
        Resume::Run => Ok(()),
        Resume::Die => Err(trap::error(End(ExitStatus::Killed))),
    }
}

/// Defines imports. `name(a: u32) -> i32 = |calls| expression` gives the guest's view on the left and the
/// kernel's on the right; the expression is a [`Call`].
macro_rules! define {
    ($linker:ident; $($name:ident($($argument:ident: $type:ty),*) -> $result:ty = |$calls:ident| $body:expr;)*) => {
        $($linker.func_wrap(
            MODULE,
            stringify!($name),
            |mut caller: Caller<'_, State<C>>, $($argument: $type),*| -> Result<$result> {
                let $calls = &mut caller.data_mut().calls;
                let result: Call<$result> = $body;
                back(&caller, result)
            },
        )?;)*
    };
}

/// A linker that knows every kernel call.
pub(crate) fn linker<C: Calls>(engine: &Engine) -> Result<Linker<State<C>>> {
    let mut linker = Linker::new(engine);
    memory(&mut linker)?;
    process(&mut linker)?;
    channels(&mut linker)?;
    blocks(&mut linker)?;
    Ok(linker)
}

/// What the installer puts in the place of memory instructions: their operands in order, the segment last.
fn memory<C: Calls>(linker: &mut Linker<State<C>>) -> Result<()> {
    define! { linker;
        memory_size() -> u32 = |calls| Ok(calls.memory_size());
        memory_grow(pages: u32) -> i32 = |calls| Ok(calls.memory_grow(pages));
        memory_copy(to: u32, from: u32, length: u32) -> () = |calls| calls.memory_copy(to, from, length);
        memory_fill(to: u32, value: u32, length: u32) -> () = |calls| calls.memory_fill(to, value, length);
        memory_init(to: u32, from: u32, length: u32, segment: u32) -> () =
            |calls| calls.memory_init(segment, to, from, length);
        data_drop(segment: u32) -> () = |calls| { calls.data_drop(segment); Ok(()) };
    }
    Ok(())
}

/// Calls about the process itself.
fn process<C: Calls>(linker: &mut Linker<State<C>>) -> Result<()> {
    define! { linker;
        null() -> () = |calls| { calls.null(); Ok(()) };
        exit(code: i32) -> () = |calls| Err(calls.exit(code));
        yield_now() -> () = |calls| calls.yield_now();
        clock_now() -> i64 = |calls| Ok(calls.clock_now());
        clock_wall() -> i64 = |calls| Ok(calls.clock_wall());
        sleep_until(deadline: u64) -> i32 = |calls| calls.sleep_until(deadline);
        random(pointer: u32, length: u32) -> i32 = |calls| calls.random(pointer, length);
        console_write(stream: u32, pointer: u32, length: u32) -> i32 =
            |calls| calls.console_write(stream, pointer, length);
        args_len() -> i32 = |calls| Ok(calls.args_len());
        args_read(pointer: u32) -> i32 = |calls| calls.args_read(pointer);
        process_id() -> i64 = |calls| Ok(calls.process_id());
        kernel_id() -> i32 = |calls| Ok(calls.kernel_id());
        thread_spawn(function: u32, argument: u32, stack_top: u32) -> i32 =
            |calls| calls.thread_spawn(function, argument, stack_top);
        thread_join(thread: u32) -> i32 = |calls| calls.thread_join(thread);
        thread_id() -> i32 = |calls| Ok(calls.thread_id());
        thread_priority(class: u32) -> i32 = |calls| calls.thread_priority(class);
    }
    Ok(())
}

/// Calls about names and channels.
fn channels<C: Calls>(linker: &mut Linker<State<C>>) -> Result<()> {
    define! { linker;
        bind(name: u32, length: u32, contract: u32, out: u32, deadline: u64) -> i32 =
            |calls| calls.bind(name, length, contract, out, deadline);
        register(path: u32, length: u32, contract: u32, out: u32) -> i32 =
            |calls| calls.register(path, length, contract, out);
        accept(service: u32, out: u32, deadline: u64) -> i32 = |calls| calls.accept(service, out, deadline);
        list(prefix: u32, length: u32, buffer: u32, capacity: u32) -> i32 =
            |calls| calls.list(prefix, length, buffer, capacity);
        channel(contract: u32, out: u32) -> i32 = |calls| calls.channel(contract, out);
        send(endpoint: u32, message: u32, deadline: u64) -> i32 =
            |calls| calls.send(endpoint, message, deadline);
        recv(endpoint: u32, message: u32, deadline: u64) -> i32 =
            |calls| calls.recv(endpoint, message, deadline);
        call(endpoint: u32, message: u32, deadline: u64) -> i32 =
            |calls| calls.call(endpoint, message, deadline);
        wait(handles: u32, count: u32, deadline: u64) -> i32 = |calls| calls.wait(handles, count, deadline);
        close(handle: u32) -> i32 = |calls| calls.close(handle);
    }
    Ok(())
}

/// Calls about blocks and pools.
fn blocks<C: Calls>(linker: &mut Linker<State<C>>) -> Result<()> {
    define! { linker;
        block_alloc(length: u32) -> i32 = |calls| calls.block_alloc(length);
        block_len(block: u32) -> i32 = |calls| calls.block_len(block);
        block_read(block: u32, offset: u32, pointer: u32, length: u32) -> i32 =
            |calls| calls.block_read(block, offset, pointer, length);
        block_write(block: u32, offset: u32, pointer: u32, length: u32) -> i32 =
            |calls| calls.block_write(block, offset, pointer, length);
        block_map(block: u32, out: u32) -> i32 = |calls| calls.block_map(block, out);
        pool_create(endpoint: u32, size: u32, count: u32, out: u32) -> i32 =
            |calls| calls.pool_create(endpoint, size, count, out);
        pool_acquire(endpoint: u32, deadline: u64) -> i32 = |calls| calls.pool_acquire(endpoint, deadline);
        pool_release(endpoint: u32, index: u32) -> i32 = |calls| calls.pool_release(endpoint, index);
    }
    Ok(())
}
