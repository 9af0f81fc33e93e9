//! What all parts of a run have in common from its beginning.

use rabbitscope_runs::scenario::Scenario;

use crate::{dial::Dialer, plan::LinkPlan, share::Share, topology::Restorer};

/// The inputs of a run.
pub(crate) struct RunContext<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) plans: &'a [LinkPlan<'a>],
    pub(crate) dialer: &'a Dialer,
    /// Declares again what a restart of the broker took away; absent where another process does that.
    pub(crate) restorer: Option<&'a Restorer>,
    /// The part of the run that is this process's own.
    pub(crate) share: Share,
}
