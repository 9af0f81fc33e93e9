//! Latencies: lossless histograms, what they say, and the log that keeps them.

use std::time::{Duration, SystemTime};

use hdrhistogram::{
    Histogram,
    serialization::{
        V2DeflateSerializer,
        interval_log::{IntervalLogWriterBuilder, Tag},
    },
};
use rabbitscope_runs::record::{LatencyPoint, LatencySummary, SpectrumPoint};

use crate::outcome::LatencyRecord;

/// The latencies that are measured. `Intended` counts from the time that the schedule asked for,
/// `ClientDelay` to the time of sending, the others from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Latency {
    Confirm,
    ConfirmIntended,
    EndToEnd,
    EndToEndIntended,
    RoundTrip,
    RoundTripIntended,
    /// The client's own part of the intended ones.
    ClientDelay,
}

impl Latency {
    pub(crate) const ALL: [Self; 7] = [
        Self::Confirm,
        Self::ConfirmIntended,
        Self::EndToEnd,
        Self::EndToEndIntended,
        Self::RoundTrip,
        Self::RoundTripIntended,
        Self::ClientDelay,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Confirm => "confirm",
            Self::ConfirmIntended => "confirm-intended",
            Self::EndToEnd => "end-to-end",
            Self::EndToEndIntended => "end-to-end-intended",
            Self::RoundTrip => "round-trip",
            Self::RoundTripIntended => "round-trip-intended",
            Self::ClientDelay => "client-delay",
        }
    }

    fn description(self) -> &'static str {
        match self {
            Self::Confirm => "from handing a message to the socket to reading its confirm",
            Self::ConfirmIntended => "from the time on the schedule to reading the confirm",
            Self::EndToEnd => "from handing a message to the socket to reading its delivery",
            Self::EndToEndIntended => "from the time on the schedule to reading the delivery",
            Self::RoundTrip => "from handing a request to the socket to reading its reply",
            Self::RoundTripIntended => "from the time on the schedule to reading the reply",
            Self::ClientDelay => {
                "of the time from the schedule to handing a message to the socket, the part in which \
                 it could have been sent: the client's own"
            }
        }
    }
}

/// A histogram in nanoseconds, three significant digits, as large as it needs to be. Takes no memory
/// before something is measured.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gauge(Option<Box<Histogram<u64>>>);

impl Gauge {
    /// Records `count` measurements of `nanos`.
    #[inline]
    pub(crate) fn record(&mut self, nanos: u64, count: u64) {
        // Fails only when growing is forbidden or beyond 2^63; neither is.
        let recorded = self.histogram().record_n(nanos.max(1), count);
        debug_assert!(recorded.is_ok());
    }

    pub(crate) fn add(&mut self, other: &Self) {
        let Some(other) = other.measured() else { return };
        let added = self.histogram().add(other);
        debug_assert!(added.is_ok(), "the sum grows as it needs to");
    }

    /// Adds what is not needed elsewhere.
    pub(crate) fn absorb(&mut self, other: Self) {
        if self.0.is_some() {
            self.add(&other);
        } else {
            *self = other;
        }
    }

    /// Absent when nothing was measured.
    pub(crate) fn measured(&self) -> Option<&Histogram<u64>> {
        self.0.as_deref()
    }

    #[inline]
    fn histogram(&mut self) -> &mut Histogram<u64> {
        self.0.get_or_insert_with(|| {
            Box::new(Histogram::new(3).expect("three significant digits are within 0 to 5"))
        })
    }
}

/// Quantiles for one row of the series; absent when nothing was measured.
pub(crate) fn point(gauge: &Gauge) -> Option<LatencyPoint> {
    gauge.measured().map(|histogram| LatencyPoint {
        count: histogram.len(),
        p50: histogram.value_at_quantile(0.5),
        p95: histogram.value_at_quantile(0.95),
        p99: histogram.value_at_quantile(0.99),
        p999: histogram.value_at_quantile(0.999),
        p9999: histogram.value_at_quantile(0.9999),
        max: histogram.max(),
    })
}

/// One latency over a whole run.
#[derive(Debug)]
pub(crate) struct LatencyLog {
    name: String,
    description: String,
    total: Gauge,
    overdue: u64,
    log: Vec<u8>,
}

/// Marks intervals of the log that are no part of the totals.
const WARM_UP_TAG: &str = "warm-up";

impl LatencyLog {
    pub(crate) fn new(latency: Latency, start: SystemTime) -> Self {
        Self::named(latency.name().to_owned(), latency.description().to_owned(), start)
    }

    /// One that is not of every run.
    pub(crate) fn named(name: String, description: String, start: SystemTime) -> Self {
        let mut log = Vec::new();
        let mut header = IntervalLogWriterBuilder::new();
        header
            .add_comment("[Histogram log format version 1.3]")
            .add_comment(&format!("[{description}, in nanoseconds]"))
            .with_start_time(start);
        header
            .begin_log_with(&mut log, &mut V2DeflateSerializer::new())
            .expect("writing to memory does not fail");
        Self { name, description, total: Gauge::default(), overdue: 0, log }
    }

    /// Adds what was measured from `start` after the run began, for `length`. The warm-up is in the
    /// log only, with a tag.
    pub(crate) fn add(&mut self, interval: &Gauge, start: Duration, length: Duration, warm: bool) {
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

    /// Of what was added, so many were overdue at the end.
    pub(crate) fn note_overdue(&mut self, count: u64) {
        self.overdue += count;
    }

    /// As in `run.json`.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The record; absent when nothing was measured.
    pub(crate) fn finish(self) -> Option<LatencyRecord> {
        let total = self.total.measured()?;
        let file = format!("latency-{}.hlog", self.name);
        let summary = LatencySummary {
            name: self.name,
            description: self.description,
            count: total.len(),
            mean: total.mean(),
            min: total.min(),
            p50: total.value_at_quantile(0.5),
            p95: total.value_at_quantile(0.95),
            p99: total.value_at_quantile(0.99),
            p999: total.value_at_quantile(0.999),
            p9999: total.value_at_quantile(0.9999),
            max: total.max(),
            overdue: self.overdue,
            spectrum: spectrum(total),
            file,
        };
        Some(LatencyRecord { summary, hlog: self.log })
    }
}

/// The places of a spectrum.
const SPECTRUM: [f64; 16] = [
    0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.975, 0.99, 0.995, 0.9975, 0.999, 0.9995, 0.9999, 0.99995,
    0.99999, 0.999_999,
];

/// A percentile is told when at least one measurement is expected above it.
fn spectrum(total: &Histogram<u64>) -> Vec<SpectrumPoint> {
    let count = total.len() as f64;
    let known = SPECTRUM.into_iter().take_while(|quantile| count * (1.0 - quantile) >= 0.999);
    let point = |quantile| SpectrumPoint { quantile, nanos: total.value_at_quantile(quantile) };
    known.map(point).collect()
}

fn warm_up_tag() -> Tag<'static> {
    Tag::new(WARM_UP_TAG).expect("has neither comma, nor space, nor line break")
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
        let mut log = LatencyLog::new(Latency::Confirm, SystemTime::UNIX_EPOCH);
        for second in 0..3_u64 {
            let mut interval = Gauge::default();
            for nanos in 1..=1000 {
                interval.record(nanos * 1000 * (second + 1), 2);
            }
            log.add(&interval, Duration::from_secs(second), Duration::from_secs(1), second == 0);
        }
        log.add(&Gauge::default(), Duration::from_secs(3), Duration::from_secs(1), false);
        let record = log.finish().unwrap();
        assert_eq!((record.summary.count, record.summary.min / 10), (4000, 200), "without warm-up");
        assert!(record.summary.max.abs_diff(3_000_000) < 3_000);
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
