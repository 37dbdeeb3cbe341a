//! Waiting for a socket on behalf of a client, and for the client's own end at the same time.
//!
//! A client that goes away ends the wait at once, so that no socket outlives its user. All files of this
//! folder wait through it.

use super::reactor::{Interest, Watch};
use satrap_abi::Errno;
use satrap_kernel::Endpoint;
use std::{future::poll_fn, io, os::fd::AsFd, task::Poll};

/// What a try at a socket came to: done, or some of it, or (as an error) nothing yet.
pub(super) type Attempt<T> = io::Result<Option<T>>;

/// Tries until it is done. After each step that did some of it the CPU is given to others, so that a fast
/// socket does not hold up the rest. While it is our turn to send, all that can come from the client is its
/// end: that is the outer error.
pub(super) async fn until_done<F: AsFd, T>(
    client: &mut Endpoint,
    watch: &Watch<F>,
    interest: Interest,
    mut attempt: impl FnMut() -> Attempt<T>,
) -> Result<io::Result<T>, Errno> {
    poll_fn(|context| {
        match attempt() {
            Ok(Some(done)) => return Poll::Ready(Ok(Ok(done))),
            Ok(None) => {
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Poll::Ready(Ok(Err(error))),
        }
        if let Poll::Ready(received) = client.poll_recv(context.waker()) {
            return Poll::Ready(Err(received.err().unwrap_or(Errno::Protocol)));
        }
        match watch.arm(interest, context.waker()) {
            Ok(()) => Poll::Pending,
            Err(error) => Poll::Ready(Ok(Err(error))),
        }
    })
    .await
}
