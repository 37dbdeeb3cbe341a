//! Splices two endpoints: what one receives the other sends. An endpoint that is sent to another satellite
//! stays where it is and is continued by a new channel (DESIGN §5: endpoints can be sent over channels).

use crate::endpoint::Endpoint;
use alloc::boxed::Box;
use core::{future::poll_fn, task::Poll};
use satrap_abi::Errno;

/// Relays until either side ends, then tells the other why. In any state of a contract one side alone may
/// send, so that one direction at a time has messages.
pub(crate) async fn run(mut a: Box<Endpoint>, mut b: Box<Endpoint>) {
    let reason = loop {
        if let Err(reason) = pass_one(&mut a, &mut b).await {
            break reason;
        }
    };
    a.close(reason);
    b.close(reason);
}

async fn pass_one(a: &mut Endpoint, b: &mut Endpoint) -> Result<(), Errno> {
    let (message, from_a) = poll_fn(|context| {
        if let Poll::Ready(result) = a.poll_recv(context.waker()) {
            return Poll::Ready(result.map(|message| (message, true)));
        }
        b.poll_recv(context.waker())
            .map(|result| result.map(|message| (message, false)))
    })
    .await?;
    if from_a {
        b.send(message).await
    } else {
        a.send(message).await
    }
}
