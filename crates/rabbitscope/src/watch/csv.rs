//! The seconds as comma-separated values, for spreadsheets.

use std::{
    fs::File,
    io::Write,
    path::{Path, PathBuf},
};

use anyhow::Context;
use rabbitscope_data::run::{LatencyPoint, SecondRow};

use super::Watcher;
use crate::atomic_file;

/// A file that grows line by line.
#[derive(Debug)]
pub struct Csv {
    file: File,
    path: PathBuf,
}

type Value = fn(&SecondRow) -> Option<f64>;

/// Times are milliseconds, CPU is in cores, memory in bytes, counts are those of the second.
const COLUMNS: [(&str, Value); 33] = [
    ("second", |row| Some(f64::from(row.second))),
    ("length_ms", |row| Some(row.interval_nanos as f64 / 1e6)),
    ("draining", |row| Some(f64::from(u8::from(row.draining)))),
    ("warming", |row| Some(f64::from(u8::from(row.warming)))),
    ("published", |row| Some(row.published as f64)),
    ("confirmed", |row| Some(row.confirmed as f64)),
    ("nacked", |row| Some(row.nacked as f64)),
    ("returned", |row| Some(row.returned as f64)),
    ("consumed", |row| Some(row.consumed as f64)),
    ("redelivered", |row| Some(row.redelivered as f64)),
    ("unconfirmed", |row| Some(row.unconfirmed as f64)),
    ("scheduled", |row| Some(row.scheduled as f64)),
    ("late", |row| Some(row.late as f64)),
    ("dropped", |row| Some(row.dropped as f64)),
    ("late_by_client", |row| Some(row.late_by_client as f64)),
    ("confirm_p50_ms", |row| millis(row.confirm_latency, |it| it.p50)),
    ("confirm_p99_ms", |row| millis(row.confirm_latency, |it| it.p99)),
    ("confirm_max_ms", |row| millis(row.confirm_latency, |it| it.max)),
    ("confirm_intended_p99_ms", |row| millis(row.confirm_intended_latency, |it| it.p99)),
    ("end_to_end_p50_ms", |row| millis(row.end_to_end_latency, |it| it.p50)),
    ("end_to_end_p99_ms", |row| millis(row.end_to_end_latency, |it| it.p99)),
    ("end_to_end_max_ms", |row| millis(row.end_to_end_latency, |it| it.max)),
    ("end_to_end_intended_p99_ms", |row| millis(row.end_to_end_intended_latency, |it| it.p99)),
    ("client_delay_p99_ms", |row| millis(row.client_delay, |it| it.p99)),
    ("socket_stall_ms", |row| Some(row.socket_stall_nanos as f64 / 1e6)),
    ("blocked_ms", |row| Some(row.blocked_nanos as f64 / 1e6)),
    ("without_service_ms", |row| Some(row.without_service_nanos as f64 / 1e6)),
    ("alarm_ms", |row| Some(row.alarm_nanos as f64 / 1e6)),
    ("bytes_written", |row| Some(row.bytes_written as f64)),
    ("bytes_read", |row| Some(row.bytes_read as f64)),
    ("broker_cpu_cores", |row| row.broker_cpu_cores),
    ("broker_rss_bytes", |row| row.broker_rss_bytes.map(|bytes| bytes as f64)),
    ("client_cpu_cores", |row| row.client_cpu_cores),
];

fn millis(point: Option<LatencyPoint>, value: fn(LatencyPoint) -> u64) -> Option<f64> {
    point.map(|point| value(point) as f64 / 1e6)
}

impl Csv {
    /// Makes the file and writes the names of the columns. A regular file that is there is
    /// replaced; it is not opened.
    pub fn create(path: &Path) -> anyhow::Result<Self> {
        let names = COLUMNS.map(|(name, _)| name).join(",") + "\n";
        Ok(Self { file: atomic_file::start(path, &names)?, path: path.to_owned() })
    }
}

/// What is not known is left empty.
fn line(row: &SecondRow) -> String {
    COLUMNS.map(|(_, value)| value(row).map_or(String::new(), |value| value.to_string())).join(",")
}

impl Watcher for Csv {
    fn second(&mut self, row: &SecondRow) -> anyhow::Result<()> {
        writeln!(self.file, "{}", line(row))
            .with_context(|| format!("cannot write {}", self.path.display()))
    }

    fn name(&self) -> String {
        format!("the rest of {}", self.path.display())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_empty() {
        let latency = LatencyPoint { p99: 1_500_000, ..LatencyPoint::default() };
        let row = SecondRow {
            second: 3,
            published: 12,
            confirm_latency: Some(latency),
            ..SecondRow::default()
        };
        let line = line(&row);
        let of = |name: &str| {
            let at = COLUMNS.iter().position(|(column, _)| *column == name).unwrap();
            line.split(',').nth(at).unwrap().to_owned()
        };
        assert_eq!((of("second"), of("published")), ("3".to_owned(), "12".to_owned()));
        assert_eq!((of("confirm_p99_ms"), of("end_to_end_p99_ms")), ("1.5".into(), String::new()));
        assert_eq!(line.split(',').count(), COLUMNS.len());
    }
}
