//! The namespace client: questions to the coordinator and their answers (Helios §3.5). It is the only service
//! of another kernel that a satellite ever waits for.

use crate::{endpoint::Endpoint, event::Event};
use alloc::{boxed::Box, collections::BTreeMap, string::String, sync::Arc, vec::Vec};
use satrap_abi::{
    Errno,
    control::{Bound, RequestId},
};
use satrap_sync::SpinLock;

/// What the coordinator, or this satellite itself, answered.
pub(crate) enum Answer {
    /// A bind led to a service of another satellite.
    Remote(Bound),
    /// A bind led to a service of this satellite: here is the client's end.
    Local(Box<Endpoint>),
    /// A registration succeeded.
    Registered,
    /// Names below a prefix.
    Names(Vec<String>),
    /// Refused.
    Refused(Errno),
}

/// One question.
#[derive(Default)]
pub(crate) struct Request {
    answer: SpinLock<Option<Answer>>,
    /// Signalled when the answer is there.
    pub(crate) answered: Event,
}

impl Request {
    /// Takes the answer, if it is there.
    pub(crate) fn take(&self) -> Option<Answer> {
        self.answer.lock().take()
    }
}

/// The questions that wait for an answer.
#[derive(Default)]
pub(crate) struct Requests {
    open: SpinLock<Open>,
}

#[derive(Default)]
struct Open {
    last: RequestId,
    waiting: BTreeMap<RequestId, Arc<Request>>,
}

impl Requests {
    /// A new question.
    pub(crate) fn open(&self) -> (RequestId, Arc<Request>) {
        let mut open = self.open.lock();
        open.last += 1;
        let (id, request) = (open.last, Arc::new(Request::default()));
        open.waiting.insert(id, request.clone());
        (id, request)
    }

    /// The answer has come. It comes back if nobody waits for it any more.
    pub(crate) fn answer(&self, id: RequestId, answer: Answer) -> Result<(), Answer> {
        let mut open = self.open.lock();
        let Some(request) = open.waiting.remove(&id) else {
            return Err(answer);
        };
        // Under the lock, so that whoever cancels in vain finds the answer.
        *request.answer.lock() = Some(answer);
        drop(open);
        request.answered.signal();
        Ok(())
    }

    /// Nobody waits for the answer any more. False if it has come already.
    pub(crate) fn cancel(&self, id: RequestId) -> bool {
        self.open.lock().waiting.remove(&id).is_some()
    }
}
