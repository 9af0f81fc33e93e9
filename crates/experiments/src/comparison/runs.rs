//! Two finished runs side by side, as text.

use std::{fmt::Write, path::Path};

use rabbitscope_analysis::{
    experiment::value_in_words,
    history::{ComparedMetric, ONE_PAIR_CAUTION, RunPair},
};
use rabbitscope_artifacts::rundir;
use rabbitscope_text::{Align, escapes, table};

/// Maximum number of differing keys in the text; JSON has all.
const MAX_KEYS_SHOWN: usize = 30;

/// Reads two run directories.
pub fn read_pair(first: &Path, second: &Path) -> anyhow::Result<RunPair> {
    let runs = [rundir::read_run(first)?, rundir::read_run(second)?];
    let name = |path: &Path| path.display().to_string();
    let runs = runs.each_ref().map(|(record, series)| (record, &series[..]));
    Ok(RunPair::new([name(first), name(second)], runs))
}

/// Returns a table, with a note on the limits of one pair of runs.
pub fn pair_in_words(pair: &RunPair) -> String {
    let mut text = String::new();
    for (letter, name) in ["A", "B"].into_iter().zip(&pair.names) {
        let _ = writeln!(text, "{letter}  {}", escapes::value(name));
    }
    for (letter, doubts) in ["A", "B"].into_iter().zip(&pair.doubts) {
        for doubt in doubts {
            let _ = writeln!(text, "{letter} is in doubt: {}", escapes::value(doubt));
        }
    }
    let _ = writeln!(text, "\n{}\n", differences(pair));
    let rows: Vec<[String; 4]> = pair.metrics.iter().map(row).collect();
    let columns = [
        ("metric", Align::Left),
        ("A", Align::Right),
        ("B", Align::Right),
        ("change", Align::Right),
    ];
    text += &table(columns, &rows);
    let _ = write!(
        text,
        "\n\n{ONE_PAIR_CAUTION} To prove a change, use rounds (`rabbitscope compare A.toml B.toml`, `rabbitscope \
         experiment`). Profiles: `rabbitscope diff A B`.\n"
    );
    text
}

fn differences(pair: &RunPair) -> String {
    if pair.differing.is_empty() {
        return "Scenario, broker and machine are the same.".to_owned();
    }
    let cell = |value: &Option<String>| value.clone().unwrap_or_else(|| "–".to_owned());
    let rows: Vec<[String; 3]> = pair
        .differing
        .iter()
        .take(MAX_KEYS_SHOWN)
        .map(|entry| [entry.key.clone(), cell(&entry.values[0]), cell(&entry.values[1])])
        .collect();
    let more = pair.differing.len().saturating_sub(MAX_KEYS_SHOWN);
    let columns = [("differs", Align::Left), ("A", Align::Left), ("B", Align::Left)];
    let more =
        if more > 0 { format!("\n… and {more} more; --json has all") } else { String::new() };
    table(columns, &rows) + &more
}

fn row(compared: &ComparedMetric) -> [String; 4] {
    let words = compared.values.map(|value| value_in_words(value, compared.unit));
    let change = format!("{:+.1} %", 100.0 * (compared.ratio - 1.0));
    let [first, second] = words;
    [compared.metric.clone(), first, second, change]
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::record::{Counters, RunRecord, SecondRow};

    use super::*;

    fn pair(published: [u64; 2]) -> RunPair {
        let series = published.map(|published| {
            let counts = Counters { published, accepted: published.into(), ..Counters::default() };
            [SecondRow { interval_nanos: 1_000_000_000, counts, ..SecondRow::default() }]
        });
        let record = RunRecord::default();
        let runs = series.each_ref().map(|series| (&record, &series[..]));
        RunPair::new(["a".to_owned(), "b".to_owned()], runs)
    }

    #[test]
    fn changes_and_limits_are_said() {
        let text = pair_in_words(&pair([1000, 1500]));
        assert!(text.contains("published.rate") && text.contains("+50.0 %"), "{text}");
        assert!(text.contains("one run of each"), "{text}");
        assert!(text.contains("are the same"), "{text}");
    }
}
