//! What all parts of a run have in common from its beginning.

use rabbitscope_runs::scenario::Scenario;

use crate::{dial::Dialer, plan::LinkPlan, topology::Restorer};

/// The inputs of a run.
pub(crate) struct RunContext<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) plans: &'a [LinkPlan<'a>],
    pub(crate) dialer: &'a Dialer,
    pub(crate) restorer: &'a Restorer,
}
