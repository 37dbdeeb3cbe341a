//! The functions of the kernel's import module, with their exact types. The compiler refuses a program that
//! imports anything else; the engine defines each of them.

use super::calls::Type::{I32, I64};
use Class::{Inserted, Program};

/// Type of a parameter or result. Pointers, handles and errors are `I32`; times are `I64`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Type {
    /// 32 bits.
    I32,
    /// 64 bits.
    I64,
}

/// Who calls it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// Programs.
    Program,
    /// The installer's rewrite, in place of a memory instruction, in the order of [`INSERTED`]. Such a call
    /// traps where the instruction would.
    Inserted,
}

/// One function of the import module [`MODULE`](crate::call::MODULE).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Call {
    /// Its name.
    pub name: &'static str,
    /// Who calls it.
    pub class: Class,
    /// Types of its parameters.
    pub params: &'static [Type],
    /// Type of its result, if it has one.
    pub result: Option<Type>,
}

const fn call(name: &'static str, params: &'static [Type], result: Option<Type>) -> Call {
    Call {
        name,
        class: Program,
        params,
        result,
    }
}

const fn inserted(name: &'static str, params: &'static [Type], result: Option<Type>) -> Call {
    Call {
        name,
        class: Inserted,
        params,
        result,
    }
}

/// How many calls the rewrite inserts; they are the first of [`CALLS`].
pub const INSERTED: usize = 6;

/// Every kernel call. The inserted ones come first, each with the operands of its instruction in order, and
/// the segment's index last.
#[rustfmt::skip]
pub const CALLS: &[Call] = &[
    inserted("memory_size", &[], Some(I32)),                    // -> pages
    inserted("memory_grow", &[I32], Some(I32)),                 // pages -> old pages, or -1
    inserted("memory_copy", &[I32, I32, I32], None),            // destination, source, length
    inserted("memory_fill", &[I32, I32, I32], None),            // destination, value, length
    inserted("memory_init", &[I32, I32, I32, I32], None),       // destination, source, length, segment
    inserted("data_drop", &[I32], None),                        // segment

    call("null", &[], None),
    call("exit", &[I32], None),                                 // code; never returns
    call("yield_now", &[], None),
    call("clock_now", &[], Some(I64)),                          // -> ns, monotonic
    call("clock_wall", &[], Some(I64)),                         // -> ns since the Unix epoch
    call("sleep_until", &[I64], Some(I32)),                     // deadline
    call("random", &[I32, I32], Some(I32)),                     // pointer, length
    call("console_write", &[I32, I32, I32], Some(I32)),         // stream, pointer, length
    call("args_len", &[], Some(I32)),                           // -> bytes
    call("args_read", &[I32], Some(I32)),                       // pointer
    call("process_id", &[], Some(I64)),
    call("kernel_id", &[], Some(I32)),

    call("thread_spawn", &[I32, I32, I32], Some(I32)),          // function, argument, stack top -> thread
    call("thread_join", &[I32], Some(I32)),                     // thread
    call("thread_id", &[], Some(I32)),
    call("thread_priority", &[I32], Some(I32)),                 // class

    call("bind", &[I32, I32, I32, I32, I64], Some(I32)),        // name, length, hash, out, deadline
    call("register", &[I32, I32, I32, I32], Some(I32)),         // path, length, hash, out
    call("accept", &[I32, I32, I64], Some(I32)),                // service, out, deadline
    call("list", &[I32, I32, I32, I32], Some(I32)),             // prefix, length, buffer, length
    call("channel", &[I32, I32], Some(I32)),                    // hash, out
    call("send", &[I32, I32, I64], Some(I32)),                  // endpoint, message, deadline
    call("recv", &[I32, I32, I64], Some(I32)),                  // endpoint, message, deadline
    call("call", &[I32, I32, I64], Some(I32)),                  // endpoint, message, deadline
    call("wait", &[I32, I32, I64], Some(I32)),                  // handles, count, deadline
    call("close", &[I32], Some(I32)),                           // handle

    call("block_alloc", &[I32], Some(I32)),                     // length -> handle
    call("block_len", &[I32], Some(I32)),                       // handle
    call("block_read", &[I32, I32, I32, I32], Some(I32)),       // handle, offset, pointer, length
    call("block_write", &[I32, I32, I32, I32], Some(I32)),      // handle, offset, pointer, length
    call("block_map", &[I32, I32], Some(I32)),                  // handle, out
    call("pool_create", &[I32, I32, I32, I32], Some(I32)),      // endpoint, buffer size, count, out
    call("pool_acquire", &[I32, I64], Some(I32)),               // endpoint, deadline -> index
    call("pool_release", &[I32, I32], Some(I32)),               // endpoint, index
];

/// The call of that name.
pub fn find(name: &str) -> Option<&'static Call> {
    CALLS.iter().find(|call| call.name == name)
}
