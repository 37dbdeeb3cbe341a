//! The control API over a real socket: the client's calls, raw HTTP, and who may not.
//!
//! Neighbour: `src/http` has the tests of each part by itself.

use crate::support::{World, eventually};
use satrap_abi::control::{Stream, ToCoordinator};
use satrap_abi::{ExitStatus, ProcessId};
use satrap_coordinator::api::{AppState, Call, Control, Event, Flow};
use satrap_coordinator::{Client, ConnectError, ServeError};
use std::{
    io::{Read, Write},
    os::unix::net::UnixStream,
    path::PathBuf,
    thread,
};

const ONE: &str = "[[process]]\nname = \"one\"\nprogram = \"program.wasm\"\n";

/// Serves a world's coordinator, and gives a client of it.
fn serve(world: &World) -> (Client, PathBuf, thread::JoinHandle<Result<(), ServeError>>) {
    let socket = world.folder.join("run/control.sock");
    let (coordinator, path) = (world.coordinator.clone(), socket.clone());
    let server = thread::spawn(move || coordinator.serve(&path));
    eventually("the socket", || Client::connect(&socket).is_ok());
    (Client::connect(&socket).unwrap(), socket, server)
}

fn raw(socket: &PathBuf, request: &str) -> String {
    let mut stream = UnixStream::connect(socket).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_client_sees_and_does_what_the_coordinator_can() {
    let world = World::new("client");
    let both = world.both();
    let (client, socket, server) = serve(&world);
    let client: &dyn Control = &client;
    let status = client.status().unwrap();
    assert_eq!((status.kernels.len(), status.socket), (2, Some(socket.clone())));
    let mut last = None;
    let sink = &mut |event: Option<Event>| {
        if let Some(Event::ProcessStarted { process, kernel, .. }) = event {
            let satellite = &both[usize::from(kernel) - 1];
            let (process, status) = (ProcessId(process), ExitStatus::Code(0));
            let (stream, bytes) = (Stream::Err, vec![0xff, 0x00]);
            satellite.say(&ToCoordinator::Console {
                process,
                stream,
                bytes,
            });
            satellite.say(&ToCoordinator::Exited { process, status });
        }
        last = event.or(last.take());
        Flow::Continue
    };
    client.run(world.manifest(ONE, true), sink).unwrap();
    assert!(matches!(last, Some(Event::AppEnded { code: 0, .. })), "{last:?}");
    let mut logged = Vec::new();
    let logs = Call::Logs {
        process: Some("app/one".into()),
        follow: false,
    };
    let sink = &mut |event| {
        logged.extend(event);
        Flow::Continue
    };
    client.events(logs, sink).unwrap();
    assert!(matches!(&logged[..], [Event::Output { stream: 2, data, .. }] if data.bytes() == [0xff, 0x00]));
    client.shutdown().unwrap();
    server.join().unwrap().unwrap();
    assert!(!socket.exists());
    assert!(matches!(
        Client::connect(&socket),
        Err(ConnectError::NotRunning(_))
    ));
}

#[test]
fn an_attached_application_ends_when_its_connection_closes() {
    let world = World::new("hangup");
    let _both = world.both();
    let (client, socket, _server) = serve(&world);
    let (_, target, body) = Call::Run(world.manifest(ONE, true)).encode().unwrap();
    let mut stream = UnixStream::connect(&socket).unwrap();
    let head = format!("POST {target} HTTP/1.1\r\nContent-Length: {}\r\n\r\n", body.len());
    stream.write_all(&[head.as_bytes(), &body].concat()).unwrap();
    let client: &dyn Control = &client;
    eventually("the start", || {
        client
            .apps()
            .unwrap()
            .first()
            .is_some_and(|app| app.state == AppState::Running)
    });
    drop(stream);
    eventually("the end", || client.apps().unwrap()[0].state == AppState::Ended);
    client.shutdown().unwrap();
}

#[test]
fn curl_gets_json_and_errors_that_say_what_is_wrong() {
    let world = World::new("raw");
    let _both = world.both();
    let (client, socket, _server) = serve(&world);
    let answer = raw(
        &socket,
        "GET /v1/names?prefix=/kernel HTTP/1.1\r\nConnection: close\r\n\r\n",
    );
    assert!(
        answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.contains("\"path\":\"/kernel/1\""),
        "{answer}"
    );
    let answer = raw(&socket, "GET /v2/names HTTP/1.1\r\nConnection: close\r\n\r\n");
    assert!(
        answer.starts_with("HTTP/1.1 404") && answer.contains("{\"error\":\"there is no GET /v2/names\"}")
    );
    let answer = raw(&socket, "nonsense\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    let broken = "{\"source\":{\"manifest\":{\"text\":\"[\",\"file\":\"a.toml\",\"base\":\"/\"}}}";
    let request = format!(
        "POST /v1/place HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{broken}",
        broken.len()
    );
    let answer = raw(&socket, &request);
    assert!(
        answer.starts_with("HTTP/1.1 422") && answer.contains("a.toml"),
        "{answer}"
    );
    (&client as &dyn Control).shutdown().unwrap();
}

#[test]
fn a_second_coordinator_on_the_same_socket_is_refused() {
    let world = World::new("second");
    let (client, socket, _server) = serve(&world);
    let refused = world.coordinator.serve(&socket).unwrap_err();
    assert!(matches!(refused, ServeError::Taken(..)), "{refused}");
    (&client as &dyn Control).shutdown().unwrap();
}
