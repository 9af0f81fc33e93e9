//! Figures of a run record, as `run.json` has them.

use serde_json::Value;

/// Returns a counter of the load.
#[track_caller]
pub fn count(run: &Value, key: &str) -> u64 {
    run["load"][key].as_u64().unwrap_or_else(|| panic!("{key} in {run:#}"))
}

/// Returns the row of a latency, of a run or of another object with `latencies`.
#[track_caller]
pub fn latency<'a>(run: &'a Value, name: &str) -> &'a Value {
    find(&run["latencies"], "name", name)
}

/// Returns a figure of a latency, such as its `count`.
#[track_caller]
pub fn latency_figure(run: &Value, name: &str, figure: &str) -> u64 {
    let latency = latency(run, name);
    latency[figure].as_u64().unwrap_or_else(|| panic!("{figure} in {latency:#}"))
}

/// Returns the first row of a list in which `key` has this text.
#[track_caller]
pub fn find<'a>(list: &'a Value, key: &str, text: &str) -> &'a Value {
    let rows = list.as_array().unwrap_or_else(|| panic!("no list: {list:#}"));
    rows.iter().find(|row| row[key] == text).unwrap_or_else(|| panic!("{text} in {list:#}"))
}
