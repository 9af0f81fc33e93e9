//! The faults and their remains: one row per command and fault.

use std::{collections::BTreeMap, fmt, time::Duration};

#[derive(Default)]
pub(super) struct Table {
    rows: Vec<(String, Row)>,
}

#[derive(Default)]
struct Row {
    faults: u32,
    codes: BTreeMap<String, u32>,
    slowest: Duration,
    readable: u32,
    said: u32,
    leftovers: Vec<String>,
}

/// The outcome of one fault.
#[derive(Default)]
pub(super) struct Outcome {
    /// Exit code or signal.
    pub(super) code: String,
    /// Time from the fault to the end of the program.
    pub(super) took: Duration,
    /// The recorded data were read afterwards.
    pub(super) is_read: bool,
    /// Objects that could not be proved to be the run's were left alone, with a message.
    pub(super) is_said: bool,
    /// All remains and all other faults.
    pub(super) leftovers: Vec<String>,
}

impl Table {
    pub(super) fn add(&mut self, what: &str, outcome: Outcome) {
        let at = self.rows.iter().position(|(name, _)| name == what).unwrap_or_else(|| {
            self.rows.push((what.to_owned(), Row::default()));
            self.rows.len() - 1
        });
        let row = &mut self.rows[at].1;
        row.faults += 1;
        *row.codes.entry(outcome.code).or_default() += 1;
        row.slowest = row.slowest.max(outcome.took);
        row.readable += u32::from(outcome.is_read);
        row.said += u32::from(outcome.is_said);
        for leftover in &outcome.leftovers {
            super::campaign::say(&format!("{what}: {leftover}"));
        }
        row.leftovers.extend(outcome.leftovers);
    }

    #[track_caller]
    pub(super) fn assert_clean(&self, seed: u64) {
        let left: Vec<_> = self.rows.iter().filter(|(_, row)| !row.leftovers.is_empty()).collect();
        let names: Vec<_> = left.iter().map(|(name, row)| (name, &row.leftovers)).collect();
        assert!(names.is_empty(), "seed {seed}: {names:#?}");
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| fault | times | ended with | slowest end, s | records read | not proved, said | leftovers |"
        )?;
        writeln!(f, "| --- | ---: | --- | ---: | ---: | ---: | ---: |")?;
        let mut sums = (0, 0, 0, 0);
        for (what, row) in &self.rows {
            let codes: Vec<_> =
                row.codes.iter().map(|(code, count)| format!("{code} × {count}")).collect();
            writeln!(
                f,
                "| {what} | {} | {} | {:.1} | {} | {} | {} |",
                row.faults,
                codes.join(", "),
                row.slowest.as_secs_f64(),
                row.readable,
                row.said,
                row.leftovers.len()
            )?;
            sums.0 += row.faults;
            sums.1 += row.readable;
            sums.2 += row.said;
            sums.3 += row.leftovers.len();
        }
        writeln!(f, "| all | {} | | | {} | {} | {} |", sums.0, sums.1, sums.2, sums.3)
    }
}
