//! The results that an experiment leaves in its directory: `experiment.json`, `experiment.csv`, `experiment.html`.

use std::{fmt::Write, path::Path};

use rabbitscope_artifacts::salvage::Unwritten;
use rabbitscope_files::AtomicFile;
use rabbitscope_runs::experiment::ExperimentResult;
use rabbitscope_web::write_experiment;

const RESULT: &str = "experiment.json";

const RUNS: &str = "experiment.csv";

pub(super) const PAGE: &str = "experiment.html";

/// Writes each result separately, so that one failure affects no other result.
pub(super) fn write(result: &ExperimentResult, directory: &Path) -> Unwritten {
    let mut unwritten = Unwritten::default();
    let json = serde_json::to_vec_pretty(result).map_err(anyhow::Error::from);
    let json = json.and_then(|json| {
        Ok(rabbitscope_files::write(&directory.join(RESULT), &[json.as_slice(), b"\n"].concat())?)
    });
    unwritten.note(RESULT, json);
    unwritten.note(RUNS, rabbitscope_files::write(&directory.join(RUNS), csv(result).as_bytes()));
    let page = AtomicFile::create(&directory.join(PAGE)).map_err(anyhow::Error::from).and_then(
        |mut page| {
            write_experiment(page.writer(), result)?;
            Ok(page.commit()?)
        },
    );
    unwritten.note(PAGE, page);
    unwritten
}

/// Returns a line per run, in the order of execution. Values have the units of `experiment.json`.
fn csv(result: &ExperimentResult) -> String {
    let metrics = result.metrics.iter().map(|metric| quoted(&metric.name));
    let titles = ["round", "position", "arm", "directory", "started_unix_ns", "in_doubt"];
    let shares = ["stolen_share", "foreign_share"];
    let titles =
        titles.map(str::to_owned).into_iter().chain(shares.map(str::to_owned)).chain(metrics);
    let mut text = titles.collect::<Vec<_>>().join(",") + "\n";
    for run in &result.runs {
        let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
        let mut cells = vec![
            run.round.to_string(),
            run.position.to_string(),
            quoted(&result.arms[run.arm].name),
            quoted(&run.directory),
            run.started_unix_nanos.to_string(),
            quoted(&run.doubts.join("; ")),
            number(run.stolen_share),
            number(run.foreign_share),
        ];
        cells.extend(
            (0..result.metrics.len()).map(|index| number(run.values.get(index).copied().flatten())),
        );
        let _ = writeln!(text, "{}", cells.join(","));
    }
    text
}

/// Quotes a cell if RFC 4180 requires it.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::experiment::{ArmFacts, MetricFacts, RunOfArm};

    use super::*;

    #[test]
    fn a_line_for_each_run() {
        let arm = ArmFacts { name: "a, \"b\"".to_owned(), ..ArmFacts::default() };
        let metric = |name: &str| MetricFacts { name: name.to_owned(), ..MetricFacts::default() };
        let run = RunOfArm {
            round: 1,
            position: 2,
            directory: "runs/x".to_owned(),
            values: vec![Some(1.5), None],
            ..RunOfArm::default()
        };
        let result = ExperimentResult {
            arms: vec![arm],
            metrics: vec![metric("m"), metric("n")],
            runs: vec![run],
            ..ExperimentResult::default()
        };
        let expected = "round,position,arm,directory,started_unix_ns,in_doubt,stolen_share,foreign_share,m,n\n\
                        1,2,\"a, \"\"b\"\"\",runs/x,0,,,,1.5,\n";
        assert_eq!(csv(&result), expected);
    }
}
