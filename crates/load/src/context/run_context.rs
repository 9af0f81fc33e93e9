//! The inputs of a run, which all its parts share from the start.

use rabbitscope_runs::scenario::Scenario;
use rabbitscope_topology::{Dialer, Restorer};

use crate::{plan::LinkPlan, share::Share};

/// The inputs of a run.
pub(crate) struct RunContext<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) plans: &'a [LinkPlan<'a>],
    pub(crate) dialer: &'a Dialer,
    /// Restores the topology that a restart of the broker removed; absent if another process does that.
    pub(crate) restorer: Option<&'a Restorer>,
    /// This process's share of the run.
    pub(crate) share: Share,
}
