//! Figures of the running service: what `GET /stats` answers.
//!
//! All connections add to one set of counters; the latencies are those of a bounded window. Neighbour:
//! `backend` counts.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

/// How many of the latest uploads the percentiles are taken over.
const WINDOW: usize = 1024;

/// Counters since the start, and the latest latencies.
#[derive(Default, Debug)]
pub struct Stats {
    /// Connections accepted.
    pub connections: u64,
    /// Connections open now.
    pub open: u64,
    /// Pictures decoded.
    pub decoded: u64,
    /// Uploads that were no valid PNG.
    pub malformed: u64,
    /// Uploads that the decoder died over, or that found none.
    pub unavailable: u64,
    /// Bytes of the pictures decoded.
    pub bytes: u64,
    latencies: VecDeque<Duration>,
}

/// The figures, locked.
pub fn lock(stats: &Mutex<Stats>) -> MutexGuard<'_, Stats> {
    stats.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Stats {
    /// Counts a connection that begins.
    pub fn opened(&mut self) {
        self.connections += 1;
        self.open += 1;
    }

    /// Counts a connection that ends.
    pub fn closed(&mut self) {
        self.open -= 1;
    }

    /// Counts a decoded picture: its size, and the time from its last byte to the answer.
    pub fn decoded(&mut self, bytes: u64, latency: Duration) {
        self.decoded += 1;
        self.bytes += bytes;
        if self.latencies.len() == WINDOW {
            self.latencies.pop_front();
        }
        self.latencies.push_back(latency);
    }

    /// The latency in microseconds that this share of the latest uploads stayed within; 0 before the first.
    fn percentile(sorted: &[Duration], percent: usize) -> u64 {
        let last = sorted.len().saturating_sub(1);
        let micros = sorted
            .get((sorted.len() * percent / 100).min(last))
            .map(Duration::as_micros);
        micros.map_or(0, |micros| u64::try_from(micros).unwrap_or(u64::MAX))
    }

    /// As JSON.
    pub fn to_json(&self) -> Value {
        let mut sorted: Vec<Duration> = self.latencies.iter().copied().collect();
        sorted.sort_unstable();
        json!({
            "connections": self.connections,
            "open": self.open,
            "decoded": self.decoded,
            "malformed": self.malformed,
            "unavailable": self.unavailable,
            "bytes": self.bytes,
            "latency_us": {
                "p50": Stats::percentile(&sorted, 50),
                "p95": Stats::percentile(&sorted, 95),
                "p99": Stats::percentile(&sorted, 99),
                "max": Stats::percentile(&sorted, 100),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_the_latest_uploads() {
        let mut stats = Stats::default();
        assert_eq!(stats.to_json()["latency_us"]["p99"], 0);
        stats.decoded(1, Duration::from_secs(9));
        for micros in 0..WINDOW as u64 {
            stats.decoded(10, Duration::from_micros(micros));
        }
        let json = stats.to_json();
        assert_eq!(json["latency_us"]["p50"], 512);
        assert_eq!(json["latency_us"]["max"], 1023);
        assert_eq!(
            (json["decoded"].clone(), json["bytes"].clone()),
            (json!(1025), json!(10241))
        );
    }
}
