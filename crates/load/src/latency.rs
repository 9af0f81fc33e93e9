//! Latencies: lossless histograms, what they say, and the log that keeps them.

use std::time::{Duration, SystemTime};

use hdrhistogram::{
    Histogram,
    serialization::{V2DeflateSerializer, interval_log::IntervalLogWriterBuilder},
};
use rabbitscope_data::run::{LatencyPoint, LatencySummary};

use crate::outcome::LatencyRecord;

/// An empty histogram in nanoseconds: three significant digits, as large as it needs to be.
pub(crate) fn histogram() -> Histogram<u64> {
    Histogram::new(3).expect("three significant digits are within 0 to 5")
}

/// Records `count` measurements of `nanos`.
#[inline]
pub(crate) fn record(histogram: &mut Histogram<u64>, nanos: u64, count: u64) {
    // Fails only when growing is forbidden or beyond 2^63; neither is.
    let recorded = histogram.record_n(nanos.max(1), count);
    debug_assert!(recorded.is_ok());
}

/// Quantiles for one row of the series; absent when nothing was measured.
pub(crate) fn point(histogram: &Histogram<u64>) -> Option<LatencyPoint> {
    (!histogram.is_empty()).then(|| LatencyPoint {
        count: histogram.len(),
        p50: histogram.value_at_quantile(0.5),
        p95: histogram.value_at_quantile(0.95),
        p99: histogram.value_at_quantile(0.99),
        max: histogram.max(),
    })
}

/// One latency over a whole run.
pub(crate) struct LatencyLog {
    name: &'static str,
    description: &'static str,
    total: Histogram<u64>,
    log: Vec<u8>,
}

impl LatencyLog {
    pub(crate) fn new(name: &'static str, description: &'static str, start: SystemTime) -> Self {
        let mut log = Vec::new();
        let mut header = IntervalLogWriterBuilder::new();
        header
            .add_comment("[Histogram log format version 1.3]")
            .add_comment(&format!("[{description}, in nanoseconds]"))
            .with_start_time(start);
        header
            .begin_log_with(&mut log, &mut V2DeflateSerializer::new())
            .expect("writing to memory does not fail");
        Self { name, description, total: histogram(), log }
    }

    /// Adds what was measured from `start` after the run began, for `length`.
    pub(crate) fn add(&mut self, interval: &Histogram<u64>, start: Duration, length: Duration) {
        if interval.is_empty() {
            return;
        }
        let added = self.total.add(interval);
        debug_assert!(added.is_ok(), "the sum grows as it needs to");
        let mut serializer = V2DeflateSerializer::new();
        let mut writer = IntervalLogWriterBuilder::new();
        writer
            .with_max_value_divisor(1.0)
            .begin_log_with(&mut self.log, &mut serializer)
            .expect("writing to memory does not fail")
            .write_histogram(interval, start, length, None)
            .expect("a histogram of our own making can be written to memory");
    }

    /// The record; absent when nothing was measured.
    pub(crate) fn finish(self) -> Option<LatencyRecord> {
        let total = &self.total;
        if total.is_empty() {
            return None;
        }
        let summary = LatencySummary {
            name: self.name.to_owned(),
            description: self.description.to_owned(),
            count: total.len(),
            mean: total.mean(),
            min: total.min(),
            p50: total.value_at_quantile(0.5),
            p95: total.value_at_quantile(0.95),
            p99: total.value_at_quantile(0.99),
            p999: total.value_at_quantile(0.999),
            p9999: total.value_at_quantile(0.9999),
            max: total.max(),
            file: format!("latency-{}.hlog", self.name),
        };
        Some(LatencyRecord { summary, hlog: self.log })
    }
}

#[cfg(test)]
mod tests {
    use hdrhistogram::serialization::{
        Deserializer,
        interval_log::{IntervalLogIterator, LogEntry},
    };

    use super::*;

    #[test]
    fn the_log_holds_every_measurement() {
        let mut log = LatencyLog::new("confirm", "from a to b", SystemTime::UNIX_EPOCH);
        for second in 0..3_u64 {
            let mut interval = histogram();
            for nanos in 1..=1000 {
                record(&mut interval, nanos * 1000 * (second + 1), 2);
            }
            log.add(&interval, Duration::from_secs(second), Duration::from_secs(1));
        }
        log.add(&histogram(), Duration::from_secs(3), Duration::from_secs(1));
        let record = log.finish().unwrap();
        assert_eq!((record.summary.count, record.summary.min / 10), (6000, 100));
        assert!(record.summary.max.abs_diff(3_000_000) < 3_000);
        let text = String::from_utf8(record.hlog.clone()).unwrap();
        assert!(text.starts_with("#[Histogram log format version 1.3]\n"), "{text}");
        let mut count = 0;
        for entry in IntervalLogIterator::new(&record.hlog) {
            let LogEntry::Interval(interval) = entry.unwrap() else { continue };
            let bytes = decode_base64(interval.encoded_histogram());
            let read: Histogram<u64> =
                Deserializer::new().deserialize(&mut bytes.as_slice()).unwrap();
            count += read.len();
        }
        assert_eq!(count, 6000);
    }

    fn decode_base64(text: &str) -> Vec<u8> {
        let digit = |c: u8| match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' => 62,
            _ => 63,
        };
        let mut bytes = Vec::new();
        let (mut bits, mut count) = (0_u32, 0);
        for c in text.bytes().filter(|c| *c != b'=') {
            bits = bits << 6 | u32::from(digit(c));
            count += 6;
            if count >= 8 {
                count -= 8;
                bytes.push(u8::try_from(bits >> count & 0xff).unwrap());
            }
        }
        bytes
    }
}
