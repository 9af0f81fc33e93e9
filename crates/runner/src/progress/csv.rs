//! The seconds as comma-separated values, for spreadsheets.

use std::{
    fs::File,
    io::Write,
    path::{Path, PathBuf},
};

use anyhow::Context;
use rabbitscope_runs::record::{
    Counter, Counters, Percentiles, SecondLatencies, SecondLatency, SecondRow, gauges,
};

use super::Watcher;

/// A CSV file that gets a line each second.
pub struct Csv {
    file: File,
    columns: Vec<Column>,
    path: PathBuf,
}

type Value = Box<dyn Fn(&SecondRow) -> Option<f64> + Send>;

struct Column {
    name: String,
    value: Value,
}

impl Column {
    fn new(
        name: impl Into<String>,
        value: impl Fn(&SecondRow) -> Option<f64> + Send + 'static,
    ) -> Self {
        Self { name: name.into(), value: Box::new(value) }
    }
}

/// Returns the columns. Times are in milliseconds, CPU in cores, memory in bytes; counts are those of the second.
/// Every counter and every latency has its columns.
fn columns() -> Vec<Column> {
    let when = [
        Column::new("second", |row| Some(f64::from(row.second))),
        Column::new("length_ms", |row| Some(row.interval_nanos as f64 / 1e6)),
        Column::new("draining", |row| Some(f64::from(u8::from(row.draining)))),
        Column::new("warming", |row| Some(f64::from(u8::from(row.warming)))),
    ];
    let mut columns = Vec::from(when);
    columns.extend(Counters::ALL.iter().map(counter_column));
    columns.extend(SecondLatencies::ALL.iter().flat_map(latency_columns));
    columns.extend(gauges().map(|gauge| Column::new(gauge.column, move |row| gauge.value(row))));
    columns
}

fn counter_column(counter: &'static Counter) -> Column {
    let (name, value) = (column_name(counter.id.name), counter.value);
    match name.strip_suffix("_nanos") {
        Some(name) => {
            Column::new(format!("{name}_ms"), move |row| Some(value(&row.counts) as f64 / 1e6))
        }
        None => Column::new(name, move |row| Some(value(&row.counts) as f64)),
    }
}

/// Returns a key of `series.jsonl` as a variable's name, as tools for tables prefer it.
fn column_name(key: &str) -> String {
    key.replace('-', "_")
}

fn latency_columns(latency: &'static SecondLatency) -> [Column; 3] {
    let value = latency.value;
    let name = latency.id.name;
    let name = column_name(name.strip_suffix("-latency").unwrap_or(name));
    let column = |figure: &str, of: fn(Percentiles) -> u64| {
        Column::new(format!("{name}_{figure}_ms"), move |row| {
            value(&row.latencies).map(|point| of(point) as f64 / 1e6)
        })
    };
    [
        column("p50", |point| point.p50),
        column("p99", |point| point.p99),
        column("max", |point| point.max),
    ]
}

impl Csv {
    /// Creates the file and writes the column names. A regular file at the path is replaced, without being opened.
    pub fn create(path: &Path) -> anyhow::Result<Self> {
        let columns = columns();
        let names: Vec<_> = columns.iter().map(|column| column.name.as_str()).collect();
        let file = rabbitscope_files::start(path, &(names.join(",") + "\n"))?;
        Ok(Self { file, columns, path: path.to_owned() })
    }
}

/// Formats a second as a line. Unknown values are empty.
fn line(columns: &[Column], row: &SecondRow) -> String {
    let value = |column: &Column| (column.value)(row);
    let cells =
        columns.iter().map(|column| value(column).map_or(String::new(), |value| value.to_string()));
    cells.collect::<Vec<_>>().join(",")
}

impl Watcher for Csv {
    fn second(&mut self, row: &SecondRow) -> anyhow::Result<()> {
        writeln!(self.file, "{}", line(&self.columns, row))
            .with_context(|| format!("cannot write {}", self.path.display()))
    }

    fn name(&self) -> String {
        format!("the rest of {}", self.path.display())
    }
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::record::NodeFigures;

    use super::*;

    #[test]
    fn what_is_not_known_is_empty() {
        let latency = Percentiles { p99: 1_500_000, ..Percentiles::default() };
        let row = SecondRow {
            second: 3,
            counts: Counters { published: 12, replies: 4, ..Counters::default() },
            latencies: SecondLatencies {
                confirm_latency: Some(latency),
                ..SecondLatencies::default()
            },
            ..SecondRow::default()
        };
        let columns = columns();
        let line = line(&columns, &row);
        let of = |name: &str| {
            let at = columns.iter().position(|column| column.name == name).unwrap();
            line.split(',').nth(at).unwrap().to_owned()
        };
        assert_eq!((of("second"), of("published")), ("3".to_owned(), "12".to_owned()));
        assert_eq!((of("replies"), of("churn_opened")), ("4".to_owned(), "0".to_owned()));
        assert_eq!((of("confirm_p99_ms"), of("end_to_end_p99_ms")), ("1.5".into(), String::new()));
        assert_eq!(line.split(',').count(), columns.len());
        for figure in NodeFigures::ALL {
            assert_eq!(of(figure.column), "", "the node was not asked");
        }
    }
}
