//! Refusals of scenarios that several workers cannot share, before anything is touched.

use rabbitscope_fleet::FleetError;
use rabbitscope_load::planned_connections;
use rabbitscope_runs::scenario::{Scenario, Seed};
use rabbitscope_terminal::UsageError;

use super::settings::FleetSettings;

/// Refuses a scenario that workers cannot share.
pub fn check(scenario: &Scenario, fleet: &FleetSettings) -> anyhow::Result<()> {
    let every = scenario.run.trace_every.is_some().then_some("run.trace-every");
    if let Some(key) = scenario.run.verify.then_some("run.verify").or(every) {
        let reason = format!(
            "{key} needs the observations of every message in one process, which --workers does not collect: omit it, \
             or run without --workers"
        );
        return Err(UsageError(reason).into());
    }
    if !scenario.faults.is_empty() {
        let reason = "[[faults]] are not done to a broker that --workers put load on: leave them out, or run without \
                      --workers";
        return Err(UsageError(reason.to_owned()).into());
    }
    if scenario.seed == Seed::Drawn {
        let reason = "`seed = \"random\"` would hide the run from a controller that is started again: with --workers, \
                      give a number";
        return Err(UsageError(reason.to_owned()).into());
    }
    let connections = planned_connections(scenario);
    if usize::from(fleet.workers) > connections {
        return Err(FleetError::TooMany { connections }.into());
    }
    Ok(())
}
