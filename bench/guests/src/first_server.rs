//! `bench-first-server N`: prints when the first message of each of N processes arrived, and when each had
//! begun to run. Whoever starts them knows when it did: the clock is the machine's.

#![forbid(unsafe_code)]

mod arguments;

use bench::service::StartMessage;
use satrap::{println, time};

satrap::contract!("bench.wit");
satrap::main!(main);

fn main() -> Result<(), String> {
    let processes = arguments::number(1, 1)?;
    serve(processes).map_err(|error| error.to_string())
}

fn serve(processes: u64) -> Result<(), satrap::Error> {
    let service = bench::Service::register("/bench/first")?;
    for number in 0..processes {
        if let StartMessage::Mark { nanos, .. } = service.accept()?.recv()? {
            println!(
                "process={number} began_ns={nanos} arrived_ns={}",
                time::now().as_nanos()
            );
        }
    }
    Ok(())
}
