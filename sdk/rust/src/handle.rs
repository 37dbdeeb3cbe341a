//! A handle that is open: one entry of the process's table, closed when it is dropped.
//!
//! Neighbours: `endpoint` and `block` give it its meaning, `pool` shares an endpoint's.

use std::fmt;

use crate::raw;

/// Owns a kernel handle.
pub(crate) struct Handle(u32);

impl Handle {
    #[inline]
    pub fn new(number: u32) -> Handle {
        Handle(number)
    }

    #[inline]
    pub fn number(&self) -> u32 {
        self.0
    }

    /// Gives the handle up without closing it.
    #[inline]
    pub fn release(self) -> u32 {
        let number = self.0;
        std::mem::forget(self);
        number
    }
}

impl Drop for Handle {
    #[inline]
    fn drop(&mut self) {
        // Closing fails only when the handle is gone already, and then there is nothing left to do.
        raw::close(self.0);
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}
