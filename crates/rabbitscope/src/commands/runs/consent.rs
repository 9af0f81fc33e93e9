//! Consent to removals: options of all commands that declare objects on a broker that they did not start.

use crate::leftovers::RemovalConsent;

#[derive(Clone, Copy, Debug, clap::Args)]
pub(in crate::commands) struct ConsentArgs {
    /// Also remove from this broker what holds messages, and quorum queues and streams: what this run declares, and
    /// before it begins what killed runs of this user left. Without this a queue goes only when the
    /// broker itself finds it empty and unused, and the rest is said
    #[arg(long)]
    remove_leftovers: bool,
    /// With `--remove-leftovers`: no application has bound or declared the queues and exchanges of killed
    /// runs since
    #[arg(long, requires = "remove_leftovers")]
    assume_unbound: bool,
}

impl ConsentArgs {
    pub(in crate::commands) fn consent(self) -> RemovalConsent {
        RemovalConsent { is_asked: self.remove_leftovers, is_unbound: self.assume_unbound }
    }
}
