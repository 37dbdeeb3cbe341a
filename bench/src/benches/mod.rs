//! Every bench. A new one is a new file here and a row in `ALL`.
//!
//! Each measures its baseline in the same rounds and says, in one line, what its limit is and where the time
//! goes.

mod abi;
mod iceoryx2;
mod lmp;
mod rmp;
mod start;
mod yields;

use crate::failure::Result;
use crate::figure::Figure;
use crate::lab::Lab;

/// What a bench found.
pub struct Outcome {
    /// The rows of the table.
    pub figures: Vec<Figure>,
    /// What the limit is and where the time goes.
    pub limit: String,
}

/// One bench.
pub struct Bench {
    /// Its name for `--only`; what stands before a slash names its group.
    pub name: &'static str,
    /// What it measures.
    pub summary: &'static str,
    /// Measures.
    pub run: fn(&Lab) -> Result<Outcome>,
}

const fn bench(name: &'static str, summary: &'static str, run: fn(&Lab) -> Result<Outcome>) -> Bench {
    Bench { name, summary, run }
}

/// All of them, in the order of the table.
pub const ALL: &[Bench] = &[
    bench("abi", "null kernel call from Wasm", abi::run),
    bench(
        "lmp",
        "round trip between two processes of one satellite",
        lmp::inline,
    ),
    bench("lmp/size", "the same with payload, 64 B to 1 MiB", lmp::by_size),
    bench(
        "lmp/iceoryx2",
        "one way beside iceoryx2, on one core and on two",
        iceoryx2::run,
    ),
    bench("rmp", "round trip between two satellites that poll", rmp::inline),
    bench(
        "rmp/size",
        "bandwidth between two satellites beside memcpy",
        rmp::by_size,
    ),
    bench("rmp/idle", "round trip when the receiver sleeps", rmp::idle),
    bench("spawn", "from start to first message of a process", start::spawn),
    bench("up", "two satellites started and registered", start::up),
    bench(
        "run",
        "`satrap run hello.wasm` with no coordinator running",
        start::run,
    ),
    bench(
        "yield",
        "16 threads that yield, one satellite against two",
        yields::run,
    ),
];

impl Bench {
    /// Whether `name` asks for it, by its own name or its group's.
    pub fn answers_to(&self, name: &str) -> bool {
        let group = self.name.split('/').next();
        self.name == name || group == Some(name)
    }
}

/// A size in the unit that reads best.
fn size(bytes: usize) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..0x10_0000 => format!("{} KiB", bytes >> 10),
        _ => format!("{} MiB", bytes >> 20),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_names_all_its_benches_and_a_bench_itself() {
        let count = |name: &str| ALL.iter().filter(|bench| bench.answers_to(name)).count();
        assert_eq!(count("lmp"), 3);
        assert_eq!(count("lmp/size"), 1);
        assert_eq!(count("nothing"), 0);
    }

    #[test]
    fn sizes_read_as_people_write_them() {
        assert_eq!(
            [64, 4096, 1 << 20].map(size),
            ["64 B", "4 KiB", "1 MiB"].map(String::from)
        );
    }
}
