//! What stands in the coordinator's place on a machine of its own: a task of the kernel that takes the
//! coordinator's frames, prints how processes end, and answers name requests with the truth that nobody is
//! there. When the last process has ended, so does the satellite.

use crate::devices::power::End;
use crate::platform::Pc;
use crate::say;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::future::poll_fn;
use core::task::{Poll, Waker};
use satrap_abi::control::{ToCoordinator, ToSatellite};
use satrap_abi::{Errno, ExitStatus, ProcessId};
use satrap_kernel::{Platform, Satellite};
use satrap_sync::SpinLock;

/// Frames from the kernel that wait for [`serve`].
#[derive(Default)]
pub struct Frames(SpinLock<(VecDeque<ToCoordinator>, Option<Waker>)>);

impl Frames {
    /// Adds a frame.
    pub fn push(&self, frame: ToCoordinator) {
        let mut waiting = self.0.lock();
        waiting.0.push_back(frame);
        let waker = waiting.1.take();
        drop(waiting);
        waker.into_iter().for_each(Waker::wake);
    }

    /// The next frame.
    async fn next(&self) -> ToCoordinator {
        poll_fn(|context| {
            let mut waiting = self.0.lock();
            match waiting.0.pop_front() {
                Some(frame) => Poll::Ready(frame),
                None => {
                    waiting.1 = Some(context.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }
}

/// Serves the satellite until its process has ended, and leaves in `end` how.
pub async fn serve(satellite: Arc<Satellite<Pc>>, end: Arc<SpinLock<Option<End>>>) {
    loop {
        let frame = satellite.platform().frames.next().await;
        if let Some(status) = outcome(&frame) {
            say!("process {status}");
            *end.lock() = Some(if status.is_success() {
                End::Success
            } else {
                End::Failure
            });
            satellite.shut_down();
            return;
        }
        if let Some(answer) = answer(frame) {
            satellite.control(answer);
        }
    }
}

/// How the process ended, if the frame says so.
fn outcome(frame: &ToCoordinator) -> Option<ExitStatus> {
    match frame {
        ToCoordinator::Exited { status, .. } => Some(*status),
        ToCoordinator::Spawned { result, .. } => result.err().map(ExitStatus::SpawnFailed),
        _ => None,
    }
}

/// The answer to a request.
fn answer(frame: ToCoordinator) -> Option<ToSatellite> {
    match frame {
        ToCoordinator::Register { request, .. } => Some(ToSatellite::RegisterReply {
            request,
            result: Err(Errno::Unsupported),
        }),
        ToCoordinator::Bind { request, .. } => Some(ToSatellite::BindReply {
            request,
            result: Err(Errno::NotFound),
        }),
        ToCoordinator::List { request, .. } => Some(ToSatellite::ListReply {
            request,
            names: Vec::new(),
        }),
        _ => None,
    }
}

/// Ends a process that still runs at `deadline`. It looks at the clock whenever it gets its turn, so that a
/// process which never waits is preempted for it.
pub async fn limit(satellite: Arc<Satellite<Pc>>, process: ProcessId, deadline: u64) {
    poll_fn(|context| {
        if satellite.platform().now() >= deadline {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
    say!("the time limit is reached");
    satellite.control(ToSatellite::Kill(process));
}
