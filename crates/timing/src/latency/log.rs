//! One latency over a whole run: total histogram, `HdrHistogram` interval log and summary.

use std::time::{Duration, SystemTime};

use hdrhistogram::{
    Histogram,
    serialization::{
        V2DeflateSerializer,
        interval_log::{IntervalLogWriterBuilder, Tag},
    },
};
use rabbitscope_runs::record::{Latency, LatencySummary, SpectrumPoint};

use super::histogram::{LatencyHistogram, latency_figures};

/// One latency over a whole run.
#[derive(Debug)]
pub struct LatencyLog {
    name: String,
    description: String,
    total: LatencyHistogram,
    overdue: u64,
    log: Vec<u8>,
}

/// Tag of log intervals that are excluded from the totals.
const WARM_UP_TAG: &str = "warm-up";

impl LatencyLog {
    /// Returns an empty log of a latency from `start` on.
    pub fn new(latency: Latency, start: SystemTime) -> Self {
        Self::named(latency.name().to_owned(), latency.description().to_owned(), start)
    }

    /// A log with a given name and description.
    pub fn named(name: String, description: String, start: SystemTime) -> Self {
        let mut log = Vec::new();
        let mut header = IntervalLogWriterBuilder::new();
        header
            .add_comment("[Histogram log format version 1.3]")
            .add_comment(&format!("[{description}, in nanoseconds]"))
            .with_start_time(start);
        header
            .begin_log_with(&mut log, &mut V2DeflateSerializer::new())
            .expect("writing to memory does not fail");
        Self { name, description, total: LatencyHistogram::default(), overdue: 0, log }
    }

    /// Adds the measurements of an interval that began `start` after the start of the run and lasted `length`. The
    /// warm-up appears only in the log, with a tag.
    pub fn add(
        &mut self,
        interval: &LatencyHistogram,
        start: Duration,
        length: Duration,
        warm: bool,
    ) {
        let Some(histogram) = interval.measured() else { return };
        if !warm {
            self.total.add(interval);
        }
        let mut serializer = V2DeflateSerializer::new();
        let mut writer = IntervalLogWriterBuilder::new();
        writer
            .with_max_value_divisor(1.0)
            .begin_log_with(&mut self.log, &mut serializer)
            .expect("writing to memory does not fail")
            .write_histogram(histogram, start, length, warm.then(warm_up_tag))
            .expect("a histogram of our own making can be written to memory");
    }

    /// Counts measurements of messages that were overdue at the end.
    pub fn note_overdue(&mut self, count: u64) {
        self.overdue += count;
    }

    /// Name, as in `run.json`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the record; absent if nothing was measured.
    pub fn finish(self) -> Option<LatencyRecord> {
        let total = self.total.measured()?;
        let file = format!("latency-{}.hlog", self.name);
        let summary = LatencySummary {
            figures: latency_figures(self.name, &self.total)?,
            description: self.description,
            overdue: self.overdue,
            spectrum: spectrum(total),
            file,
        };
        Some(LatencyRecord { summary, hlog: self.log })
    }
}

/// The quantiles of a spectrum.
const SPECTRUM: [f64; 16] = [
    0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.975, 0.99, 0.995, 0.9975, 0.999, 0.9995, 0.9999, 0.99995,
    0.99999, 0.999_999,
];

/// Returns the quantiles above which at least one measurement is expected.
fn spectrum(total: &Histogram<u64>) -> Vec<SpectrumPoint> {
    let count = total.len() as f64;
    let known = SPECTRUM.into_iter().take_while(|quantile| count * (1.0 - quantile) >= 0.999);
    let point = |quantile| SpectrumPoint { quantile, nanos: total.value_at_quantile(quantile) };
    known.map(point).collect()
}

fn warm_up_tag() -> Tag<'static> {
    Tag::new(WARM_UP_TAG).expect("has neither comma, nor space, nor line break")
}

/// A latency over the whole run.
#[derive(Clone, Debug, PartialEq)]
pub struct LatencyRecord {
    /// Quantiles of the lossless histogram, for `run.json`.
    pub summary: LatencySummary,
    /// Contents of [`LatencySummary::file`]: an `HdrHistogram` V2 interval log in nanoseconds, with one interval per
    /// second.
    pub hlog: Vec<u8>,
}

#[cfg(test)]
mod tests {
    use hdrhistogram::serialization::{
        Deserializer,
        interval_log::{IntervalLogIterator, LogEntry},
    };

    use super::*;
    use crate::clock::Nanos;

    #[test]
    fn the_log_holds_every_measurement() {
        let mut log = LatencyLog::new(Latency::Confirm, SystemTime::UNIX_EPOCH);
        for second in 0..3_u64 {
            let mut interval = LatencyHistogram::default();
            for nanos in 1..=1000 {
                interval.record(Nanos::from_micros(nanos * (second + 1)), 2);
            }
            log.add(&interval, Duration::from_secs(second), Duration::from_secs(1), second == 0);
        }
        log.add(
            &LatencyHistogram::default(),
            Duration::from_secs(3),
            Duration::from_secs(1),
            false,
        );
        let record = log.finish().unwrap();
        assert_eq!(
            (record.summary.figures.percentiles.count, record.summary.figures.min / 10),
            (4000, 200),
            "without warm-up"
        );
        assert!(record.summary.figures.percentiles.max.abs_diff(3_000_000) < 3_000);
        let text = String::from_utf8(record.hlog.clone()).unwrap();
        assert!(text.starts_with("#[Histogram log format version 1.3]\n"), "{text}");
        let (mut count, mut warm) = (0, 0);
        for entry in IntervalLogIterator::new(&record.hlog) {
            let LogEntry::Interval(interval) = entry.unwrap() else { continue };
            let bytes = decode_base64(interval.encoded_histogram());
            let read: Histogram<u64> =
                Deserializer::new().deserialize(&mut bytes.as_slice()).unwrap();
            count += read.len();
            warm += if interval.tag().is_some() { read.len() } else { 0 };
        }
        assert_eq!((count, warm), (6000, 2000));
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
