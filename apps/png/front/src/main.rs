//! The front end: HTTP on a TCP port, each connection served by a thread of its own.
//!
//! Neighbours: `http` and `serve` (the protocol, tested on the host), `tcp` (connections of `/net/tcp`),
//! `backend` (decoder and store), `answers` (JSON), `stats`.

#![forbid(unsafe_code)]

mod answers;
mod backend;
mod http;
mod serve;
mod stats;
mod tcp;

use std::sync::{Arc, Mutex};

use satrap::{eprintln, println, thread};

use backend::Backend;
use net::tcp::Reach;
use stats::Stats;

/// Contracts of the network.
mod net {
    satrap::contract!("../../../services/net/net.wit");
}

/// Contracts of this application.
mod png {
    satrap::contract!("../png.wit");
}

satrap::main!(main);

/// Figures that all connections add to. A lock on them is never held across a call that blocks.
type SharedStats = Arc<Mutex<Stats>>;

/// What the command line asks for.
struct Options {
    port: u16,
    reach: Reach,
}

fn main() -> Result<(), String> {
    let options = Options::parse(&satrap::args())?;
    let mut listener = tcp::Listener::open(options.port, options.reach)?;
    println!("listening on port {}", listener.port());
    let stats = SharedStats::default();
    let mut refused = 0;
    loop {
        let connection = listener.accept()?;
        let stats = stats.clone();
        let served = thread::spawn(move || serve_connection(connection, stats));
        // One line for many: who floods the service shall not flood its log.
        match served {
            // The connection was dropped with the thread, and its client sees it closed.
            Err(error) if refused == 0 => {
                eprintln!("connections are refused: {error}");
                refused = 1;
            }
            Err(_) => refused += 1,
            Ok(_) if refused > 0 => {
                eprintln!("connections are taken again; refused: {refused}");
                refused = 0;
            }
            Ok(_) => {}
        }
    }
}

impl Options {
    fn parse(arguments: &[String]) -> Result<Options, String> {
        let mut options = Options {
            port: 8080,
            reach: Reach::Machine,
        };
        let mut rest = arguments.iter().skip(1);
        while let Some(argument) = rest.next() {
            match argument.as_str() {
                "--port" => {
                    let text = rest.next().ok_or("--port needs a number")?;
                    options.port = text.parse().map_err(|error| format!("--port {text}: {error}"))?;
                }
                "--everywhere" => options.reach = Reach::Network,
                other => {
                    return Err(format!(
                        "unknown argument `{other}`; there are --port N and --everywhere"
                    ));
                }
            }
        }
        Ok(options)
    }
}

fn serve_connection(mut connection: tcp::Connection, stats: SharedStats) {
    stats::lock(&stats).opened();
    let mut backend = Backend::new(stats.clone());
    // A client that leaves, or says nothing for too long, ends its connection and nothing else.
    let _ = serve::serve(&mut connection, &mut backend);
    stats::lock(&stats).closed();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<(u16, Reach), String> {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        Options::parse(&words).map(|options| (options.port, options.reach))
    }

    #[test]
    fn the_command_line_chooses_port_and_reach() {
        assert_eq!(parse("front"), Ok((8080, Reach::Machine)));
        assert_eq!(parse("front --everywhere --port 0"), Ok((0, Reach::Network)));
        assert_eq!(parse("front --port"), Err("--port needs a number".into()));
        assert!(
            parse("front --port 70000")
                .unwrap_err()
                .starts_with("--port 70000: ")
        );
        assert!(parse("front --prot 1").is_err());
    }
}
