//! In a guest, the kernel's functions are imports.
//!
//! Neighbour: `host`, which stands in its place everywhere else.

macro_rules! kernel_calls {
    ($( $(#[$doc:meta])* $safety:ident fn $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?; )*) => {
        #[link(wasm_import_module = "satrap:kernel@1")]
        unsafe extern "C" {
            $( $(#[$doc])* pub $safety fn $name($($argument: $type),*) $(-> $result)?; )*
        }
    };
}
