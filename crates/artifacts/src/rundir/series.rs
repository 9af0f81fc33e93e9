//! Reads `series.jsonl` line by line; for a killed run, up to the last complete line.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::Path,
};

use anyhow::{Context, bail};
use rabbitscope_runs::record::SecondRow;

use super::names::cannot_read;

/// Size limit of a series: two days, with some hundred bytes for each of many pollers.
const MAX_BYTES: u64 = 256 << 20;

/// Limit of a line's length; a real one has two kilobytes.
const MAX_LINE_BYTES: u64 = 1 << 20;

/// The seconds of a run.
#[derive(Debug, Default)]
pub(super) struct Series {
    pub(super) rows: Vec<SecondRow>,
    /// The run was killed while it wrote the next line.
    pub(super) is_torn: bool,
}

impl Series {
    pub(super) fn read(path: &Path) -> anyhow::Result<Self> {
        let file = rabbitscope_files::open(path, MAX_BYTES).with_context(|| cannot_read(path))?;
        Self::from_reader(BufReader::new(file.take(MAX_BYTES))).with_context(|| cannot_read(path))
    }

    fn from_reader(mut input: BufReader<io::Take<File>>) -> anyhow::Result<Self> {
        let mut series = Self::default();
        let mut line = Vec::new();
        for number in 1.. {
            line.clear();
            let length = (&mut input).take(MAX_LINE_BYTES).read_until(b'\n', &mut line)?;
            if length as u64 == MAX_LINE_BYTES {
                bail!("line {number} is too long for a second of a run");
            }
            match serde_json::from_slice(&line) {
                _ if length == 0 => break,
                Ok(row) => series.rows.push(row),
                Err(_) if line.last() != Some(&b'\n') => series.is_torn = true,
                Err(error) => return Err(error).context(format!("line {number}")),
            }
        }
        Ok(series)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> anyhow::Result<Series> {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("series.jsonl");
        std::fs::write(&path, text).unwrap();
        Series::read(&path)
    }

    #[test]
    fn a_torn_last_line_is_left_out() {
        let row = serde_json::to_string(&SecondRow::default()).unwrap();
        let check = |text: &str, rows: usize, is_torn: bool| {
            let series = read(text).unwrap();
            assert_eq!((series.rows.len(), series.is_torn), (rows, is_torn), "{text}");
        };
        check("", 0, false);
        check(&format!("{row}\n{row}\n"), 2, false);
        check(&format!("{row}\n{row}"), 2, false);
        check(&format!("{row}\n{}", &row[..9]), 1, true);
    }

    #[test]
    fn what_is_no_series_is_refused() {
        let refused = format!("{:#}", read("{}\n{}\n").unwrap_err());
        assert!(refused.contains("series.jsonl") && refused.contains("line 1"), "{refused}");
        let endless = " ".repeat(2 << 20);
        let refused = format!("{:#}", read(&endless).unwrap_err());
        assert!(refused.contains("line 1 is too long"), "{refused}");
    }
}
