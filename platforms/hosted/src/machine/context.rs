//! The interrupted registers, as Linux shows them to a signal handler.
//!
//! The one place that knows `ucontext_t`; the engine changes registers only through it. `signals.rs` beside
//! it hands it over.

use core::ffi::c_void;
use satrap_engine::arch::Registers;

/// The context of a signal handler's third argument.
pub struct Context<'a>(&'a mut libc::ucontext_t);

impl<'a> Context<'a> {
    /// # Safety
    /// `argument` is the third argument of the signal handler that calls this, for the time it runs.
    pub unsafe fn new(argument: *mut c_void) -> Context<'a> {
        // SAFETY: with `SA_SIGINFO` Linux passes a `ucontext_t` of which the handler is the only user.
        Context(unsafe { &mut *argument.cast() })
    }

    fn get(&self, register: libc::c_int) -> u64 {
        self.0.uc_mcontext.gregs[register as usize] as u64
    }

    fn set(&mut self, register: libc::c_int, value: u64) {
        self.0.uc_mcontext.gregs[register as usize] = value as i64;
    }

    /// Where it was interrupted.
    pub fn pc(&self) -> usize {
        self.get(libc::REG_RIP) as usize
    }

    /// Changes the registers that a diversion needs.
    pub fn change(&mut self, change: impl FnOnce(&mut Registers)) {
        let mut registers = Registers {
            rip: self.get(libc::REG_RIP),
            rsp: self.get(libc::REG_RSP),
            rbp: self.get(libc::REG_RBP),
            rflags: self.get(libc::REG_EFL),
            rax: self.get(libc::REG_RAX),
            rdi: self.get(libc::REG_RDI),
            rsi: self.get(libc::REG_RSI),
        };
        change(&mut registers);
        self.set(libc::REG_RIP, registers.rip);
        self.set(libc::REG_RSP, registers.rsp);
        self.set(libc::REG_RBP, registers.rbp);
        self.set(libc::REG_EFL, registers.rflags);
        self.set(libc::REG_RAX, registers.rax);
        self.set(libc::REG_RDI, registers.rdi);
        self.set(libc::REG_RSI, registers.rsi);
    }
}
