//! The record of a killed run, made from its scenario and its seconds. Fields that only the end of a run can fill
//! stay empty.

use std::{path::Path, time::UNIX_EPOCH};

use rabbitscope_files::MAX_TEXT_BYTES;
use rabbitscope_runs::record::{
    FORMAT_VERSION, LoadTotals, Loss, RunRecord, SecondRow, Service, Verdict,
};

use super::{SCENARIO, SERIES};

/// Makes the record of the run in `run_dir` with the seconds `rows`.
pub(super) fn record(run_dir: &Path, rows: &[SecondRow]) -> RunRecord {
    let scenario = scenario(run_dir);
    let text = |key: &str| scenario[key].as_str().unwrap_or_default().to_owned();
    let duration_nanos = rows.iter().map(|row| row.interval_nanos).sum();
    RunRecord {
        format_version: FORMAT_VERSION,
        name: text("name"),
        description: text("description"),
        started_unix_nanos: started(run_dir, duration_nanos).unwrap_or(0),
        duration_nanos,
        load: LoadTotals::of_seconds(rows),
        service: Service::of_seconds(rows),
        losses: vec![Loss {
            what: "run records".to_owned(),
            count: 1,
            of: 1,
            meaning: "broker, machine, latencies over the whole run and expectations are unknown; rates and latencies \
                      per second are known"
                .to_owned(),
        }],
        verdict: Verdict::Aborted {
            reason: format!(
                "This run did not finish: it was killed, or it has not ended. It has no run.json; this page shows its \
                 first {} seconds.",
                rows.len()
            ),
        },
        scenario,
        ..RunRecord::default()
    }
}

/// Returns the resolved scenario, or null if it is missing.
fn scenario(run_dir: &Path) -> serde_json::Value {
    let text = rabbitscope_files::read_text(&run_dir.join(SCENARIO), MAX_TEXT_BYTES);
    let table = text.ok().and_then(|text| text.parse::<toml::Table>().ok());
    table.and_then(|table| serde_json::to_value(table).ok()).unwrap_or_default()
}

/// Estimates the start: the last line was written at the end of its second.
fn started(run_dir: &Path, duration_nanos: u64) -> Option<u64> {
    let written = run_dir.join(SERIES).metadata().ok()?.modified().ok()?;
    let end = u64::try_from(written.duration_since(UNIX_EPOCH).ok()?.as_nanos()).ok()?;
    end.checked_sub(duration_nanos)
}
