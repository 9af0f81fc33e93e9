//! A limit of the control group for the disk, at which tasks wait.

use crate::{
    case::Case,
    finding::Severity,
    rules::{
        draft::{Advice, Aim, Draft},
        look::{self, Look},
        rule::{Judged, Minimum, Need, NotJudged, Rule},
    },
};

/// Share of the time in which a task waits for a disk.
const WAITING: f64 = 0.3;
/// Busy share of the disk up to which the limit, not the disk, makes tasks wait.
const BUSY: f64 = 0.7;

pub(crate) const RULE: Rule = Rule {
    name: "io-limit",
    title: "disk limit of the control group",
    meaning: "the control group limits the node's disk, and tasks wait for it",
    needs: &[Need::Host],
    minimum: Minimum { seconds: 5, counts: "" },
    threshold: "a limit in `io.max` while tasks wait for disks 30 % of the time: note; warning if the disk itself has requests less than 70 % of the time",
    change: "a higher limit in `io.max`",
    source: "Linux documentation, cgroup v2: io.max and pressure stall information; the threshold is a proposal",
    find,
};

fn find(case: &Case) -> Judged {
    let host = case.host.as_ref()?;
    if host.io_limits.trim().is_empty() {
        return Ok(Vec::new());
    }
    let pressure = host
        .io_pressure
        .ok_or_else(|| NotJudged::new("the kernel does not show the pressure on disks"))?;
    let is_waiting = pressure >= WAITING;
    if !is_waiting {
        return Ok(Vec::new());
    }
    let waiting = look::percent(pressure);
    let device = host.data_disk.as_ref().map_or("the disk", |disk| disk.device.as_str());
    let sentence = format!(
        "the control group limits {device}, and tasks wait for disks {waiting} of the time"
    );
    let advice = Advice::new(
        Aim::Raise,
        "io.max",
        "raise or remove the limit of the control group for this disk",
        "less of the disk for others on the machine",
    );
    let look = Look::host(host);
    let is_free = host.data_disk.as_ref().is_some_and(|disk| disk.busy_share < BUSY);
    let severity = if is_free { Severity::Warning } else { Severity::Note };
    let draft = Draft::new(severity, vec![device.to_owned()], sentence)
        .evidence(look.ends(format!("io.max: {}", host.io_limits.trim())))
        .evidence(look.says(format!("tasks wait for disks {waiting}")))
        .advice(advice);
    Ok(vec![draft])
}
