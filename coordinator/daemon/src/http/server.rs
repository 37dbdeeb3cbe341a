//! The server: accepts connections until the coordinator shall stop.
//!
//! It gives each connection a thread; what that thread says is in `connection`.

use super::{CONNECTIONS_MAX, ServeError, address::Address, connection};
use crate::service::Service;
use rustix::event::{PollFd, PollFlags, poll};
use std::{
    os::unix::net::UnixStream,
    path::Path,
    sync::Arc,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::Duration,
};

/// How long accepting pauses when it cannot go on: all connections taken, or no descriptor left.
const PAUSE: Duration = Duration::from_millis(20);

/// Serves the control API on that socket until the service is asked to stop.
///
/// # Errors
/// The socket cannot be made, or another coordinator has it.
pub fn serve(service: &Arc<Service>, path: &Path) -> Result<(), ServeError> {
    let address = Address::bind(path)?;
    service.set_socket(path);
    let open = Arc::new(AtomicUsize::new(0));
    loop {
        let full = open.load(Ordering::Relaxed) >= CONNECTIONS_MAX;
        let wanted = if full { PollFlags::empty() } else { PollFlags::IN };
        let pause = full.then(|| PAUSE.try_into().ok()).flatten();
        let mut places = [
            PollFd::new(service.stop_signal(), PollFlags::IN),
            PollFd::new(&address.listener, wanted),
        ];
        // An interrupted wait is one that found nothing.
        let _ = poll(&mut places, pause.as_ref());
        if !places[0].revents().is_empty() {
            return Ok(());
        }
        if full || places[1].revents().is_empty() {
            continue;
        }
        match address.listener.accept() {
            Ok((stream, _)) => start(service.clone(), stream, &open),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(_) => thread::sleep(PAUSE),
        }
    }
}

/// Serves one connection on a thread of its own.
fn start(service: Arc<Service>, stream: UnixStream, open: &Arc<AtomicUsize>) {
    open.fetch_add(1, Ordering::Relaxed);
    let count = Count(open.clone());
    let serve = move || {
        let _count = count;
        // Accepted sockets may inherit the listener's mode; a broken connection concerns only its client.
        let _ = stream.set_nonblocking(false);
        let _ = connection::serve(&service, &stream);
    };
    // Without a thread the connection closes, and its client knows.
    let _ = thread::Builder::new().name("satrap-control".into()).spawn(serve);
}

/// One open connection, counted as long as it lives, even if serving it panics.
struct Count(Arc<AtomicUsize>);

impl Drop for Count {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
