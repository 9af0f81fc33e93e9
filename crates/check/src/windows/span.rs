//! The windows of one node within a time.

use std::{path::Path, time::Duration};

use rabbitscope_artifacts::archive::{RecordedSpan, read_span};
use rabbitscope_diagnosis::{Case, Subject};

use super::profiles::case_of_profiles;

/// Reads the selected windows of a directory of `watch`, such as `windows?from=04:00&node=rabbit`, as a case. They must
/// be of one process of one node.
pub fn read_windows(place: &Path) -> anyhow::Result<Case> {
    let RecordedSpan { node, profiles, covered } = read_span(place)?;
    let duration = Duration::try_from_secs_f64(covered.as_secs_f64()).unwrap_or_default();
    Ok(case_of_profiles(Subject { node, pid: None, duration }, &profiles))
}
