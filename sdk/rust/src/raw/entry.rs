//! Where the kernel enters a program: the exports `satrap_main` and `satrap_thread`.
//!
//! Neighbours: `process` runs `main` and reports how it ended, `thread` makes the bodies of threads.

/// What a thread runs. Invariant I2: its raw form is made once and turned back once, by the new thread or,
/// when there is none, by who tried to start it.
pub(crate) struct ThreadBody(Box<dyn FnOnce()>);

impl ThreadBody {
    pub fn new(body: impl FnOnce() + 'static) -> ThreadBody {
        ThreadBody(Box::new(body))
    }

    /// The word that travels through the kernel to the new thread.
    pub fn into_raw(self) -> *mut () {
        Box::into_raw(Box::new(self)).cast()
    }

    /// Reverse of [`ThreadBody::into_raw`].
    ///
    /// # Safety
    /// `raw` comes from `into_raw` and has not been turned back before.
    pub unsafe fn from_raw(raw: *mut ()) -> ThreadBody {
        // SAFETY: the caller's promise.
        *unsafe { Box::from_raw(raw.cast()) }
    }
}

/// Makes a function the program's entry: `satrap::main!(main);`.
///
/// The function takes nothing and returns `()` or a `Result<(), E>`; an error is printed and the process ends
/// with code 1.
#[macro_export]
macro_rules! main {
    ($main:path) => {
        const _: () = {
            // SAFETY: the kernel's name for a program's entry, exported once a program.
            #[unsafe(no_mangle)]
            extern "C" fn satrap_main() -> i32 {
                $crate::process::run($main)
            }
        };
    };
}

/// Runs a thread to its end. The kernel calls it in an instance of the thread's own, its stack pointer set
/// to the stack that [`thread::spawn`](crate::thread::spawn) allocated.
// SAFETY: no other symbol of a program has this name.
#[unsafe(no_mangle)]
pub extern "C" fn satrap_thread(_function: usize, argument: *mut ()) {
    // SAFETY: I2: the kernel passes on what `thread_spawn` was given, once.
    let body = unsafe { ThreadBody::from_raw(argument) };
    (body.0)();
}
