//! On a host there is no kernel beneath: every call answers `Unsupported`, so that the SDK and programs built
//! on it type-check, and their pure parts can be tested, with plain cargo.

use satrap_abi::Errno;

/// What a call answers where there is no kernel.
pub(super) trait Refusal {
    const VALUE: Self;
}

impl Refusal for () {
    const VALUE: () = ();
}

impl Refusal for i32 {
    const VALUE: i32 = Errno::Unsupported.to_result();
}

impl Refusal for u64 {
    const VALUE: u64 = 0;
}

macro_rules! kernel_calls {
    ($( $(#[$doc:meta])* $safety:ident fn $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?; )*) => {
        $( refusing! { $safety $(#[$doc])* $name($($argument: $type),*) -> ($($result)?) } )*
    };
}

macro_rules! refusing {
    (safe $(#[$doc:meta])* $name:ident($($argument:ident: $type:ty),*) -> ($($result:ty)?)) => {
        $(#[$doc])*
        pub fn $name($($argument: $type),*) -> refusing!(@ $($result)?) {
            let _ = ($($argument,)*);
            <refusing!(@ $($result)?) as declare::Refusal>::VALUE
        }
    };
    (unsafe $(#[$doc:meta])* $name:ident($($argument:ident: $type:ty),*) -> ($($result:ty)?)) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// Pointers must be valid for what the kernel reads or writes there.
        pub unsafe fn $name($($argument: $type),*) -> refusing!(@ $($result)?) {
            let _ = ($($argument,)*);
            <refusing!(@ $($result)?) as declare::Refusal>::VALUE
        }
    };
    (@) => { () };
    (@ $result:ty) => { $result };
}
