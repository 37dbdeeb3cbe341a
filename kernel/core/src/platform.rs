//! What the kernel asks of the platform it stands on. A port is a sibling folder that implements this; the
//! kernel holds no `cfg` on the platform (STYLE habit 3).
//!
//! Helios §2.1: a timer, an interrupt controller (here: park, unpark, doorbells) and traps (the engine's
//! business) are all that a device must have.

use crate::engine::Engine;
use satrap_abi::control::ToCoordinator;
use satrap_link::Attention;

/// The machine beneath a satellite kernel.
pub trait Platform: Send + Sync + Sized + 'static {
    /// Its Wasm engine.
    type Engine: Engine<Calls = crate::CallContext<Self>>;

    /// The engine.
    fn engine(&self) -> &Self::Engine;

    /// Its name for placement, such as `hosted-x86_64`.
    fn name(&self) -> &str;

    /// CPUs of this satellite.
    fn cpus(&self) -> usize;

    /// The CPU that this code runs on, or `None` outside the satellite's own CPUs.
    fn current_cpu(&self) -> Option<usize>;

    /// Monotonic time in ns, the same for every satellite of the machine.
    fn now(&self) -> u64;

    /// A counter that rises at a constant rate and is nearly free to read, for accounts of running time: reading
    /// a clock can cost as much as switching to another thread.
    #[inline]
    fn ticks(&self) -> u64 {
        self.now()
    }

    /// Nanoseconds in so many [`Platform::ticks`].
    fn nanoseconds_in(&self, ticks: u64) -> u64 {
        ticks
    }

    /// Wall-clock time in ns since the Unix epoch.
    fn wall_clock(&self) -> u64;

    /// Fills `bytes` with randomness fit for keys.
    fn random(&self, bytes: &mut [u8]);

    /// Arms the one-shot preemption timer of `cpu`, or disarms it. When it fires inside Wasm code the running
    /// thread is preempted; inside the kernel nothing happens until the kernel call returns.
    fn set_timer(&self, cpu: usize, deadline: Option<u64>);

    /// Sleeps until [`Platform::unpark`], a doorbell, or the deadline. May return early. An `unpark` before
    /// the call makes it return at once.
    fn park(&self, cpu: usize, deadline: Option<u64>);

    /// Ends the sleep of `cpu`, or its next one.
    fn unpark(&self, cpu: usize);

    /// Preempts what runs on `cpu`, as its timer would, and ends its sleep.
    fn interrupt(&self, cpu: usize);

    /// Tells the peers whether they must ring: written into this satellite's own export, with a full fence
    /// after it.
    fn set_attention(&self, attention: Attention);

    /// How many doorbells of peers were rung so far.
    fn doorbells(&self) -> u64;

    /// Gives a frame to the coordinator, in order. Never blocks.
    fn send_control(&self, frame: ToCoordinator);

    /// Spends a moment, now and then, in a loop that polls.
    #[inline(always)]
    fn relax(&self) {}

    /// How long an idle CPU polls before it parks, in ns: about twice the cost of a wake-up.
    fn poll_budget(&self) -> u64;
}
