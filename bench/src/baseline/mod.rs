//! What Linux and the bare machine do in the same run: the other half of every ratio.
//!
//! Each is as fast as we know how to make it: an honest bench has strong baselines. Neighbour: `second`.

pub mod eventfd;
pub mod line;
pub mod memcpy;
pub mod native;
pub mod pipe;
