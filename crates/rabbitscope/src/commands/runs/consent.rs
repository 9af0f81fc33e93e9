//! Consent to removals: options of all commands that declare objects on a broker that they did not start.

use rabbitscope_runner::leftovers::RemovalConsent;

#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(in crate::commands) struct ConsentArgs {
    /// Also remove quorum queues, streams and queues with messages from the broker
    ///
    /// These are the objects of this run and, before it begins, those that killed runs of this user left. Without
    /// this option, a queue is removed only if the broker finds it empty and unused. The run lists the others.
    #[arg(long)]
    remove_leftovers: bool,
    /// With `--remove-leftovers`: confirm that no application has since bound or declared the objects
    ///
    /// The objects are the queues and exchanges of killed runs.
    #[arg(long, requires = "remove_leftovers")]
    assume_unbound: bool,
}

impl ConsentArgs {
    pub(in crate::commands) fn consent(self) -> RemovalConsent {
        RemovalConsent { is_asked: self.remove_leftovers, is_unbound: self.assume_unbound }
    }
}
