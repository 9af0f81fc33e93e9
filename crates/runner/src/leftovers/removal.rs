//! The removal of a journal entry's objects: checked on this machine first, then on the broker.

use std::fmt::Write;

use rabbitscope_machine::Liveness;
use rabbitscope_topology::{
    BindingSource, Dialer, ForeignBindings, KeptObject, KeptReason, Leftovers, Messages, Removal,
    remove_leftovers,
};

use super::{Entry, Journal};

/// Maximum number of names in a sentence.
const NAMES_SHOWN: usize = 5;

/// The user's consent to a removal. The default is for runs, which remove leftovers before they begin and when they
/// end. It covers only objects that have certainly ended, and that cannot hold messages or routes of others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RemovalConsent {
    /// The user asked for the removal and answers for it. It then includes messages, and objects of a run that cannot
    /// be seen from here.
    pub is_asked: bool,
    /// The user vouches that no application has bound or declared the queues and exchanges of killed runs.
    pub is_unbound: bool,
}

impl RemovalConsent {
    /// Returns the treatment of messages.
    pub fn messages(self) -> Messages {
        if self.is_asked { Messages::Discard } else { Messages::Keep }
    }
}

/// The outcome of one entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The run is still alive.
    Running,
    /// Nothing was touched, for this reason.
    LeftAlone(String),
    /// The objects that are certainly the run's own were removed, except the kept ones.
    Removed(Removal),
}

/// An entry and its outcome.
#[derive(Clone, Debug)]
pub struct Report {
    /// The entry.
    pub entry: Entry,
    /// Its outcome.
    pub outcome: Outcome,
}

/// Removes the leftovers of runs on the broker at the other end of `dialer`. An entry goes once none of the run's own
/// objects is left.
pub fn remove(
    journal: &Journal,
    dialer: &Dialer,
    asked: RemovalConsent,
    source: Option<&dyn BindingSource>,
) -> anyhow::Result<Vec<Report>> {
    let broker = dialer.uri().to_string();
    let entries = journal.entries().into_iter().filter(|entry| entry.broker == broker);
    let reports = entries.map(|entry| {
        let outcome = settle(&entry, dialer, asked, source)?;
        if let Outcome::Removed(removal) = &outcome
            && !removal.kept.iter().any(|kept| kept.reason.is_ours())
        {
            journal.remove(&entry.topology.token);
        }
        Ok(Report { entry, outcome })
    });
    reports.collect()
}

fn settle(
    entry: &Entry,
    dialer: &Dialer,
    asked: RemovalConsent,
    source: Option<&dyn BindingSource>,
) -> anyhow::Result<Outcome> {
    match entry.liveness()? {
        Liveness::Running => return Ok(Outcome::Running),
        Liveness::OutOfSight { place } if !asked.is_asked => {
            let reason = format!("it ran {place} and may still run, which this process cannot see");
            return Ok(Outcome::LeftAlone(reason));
        }
        Liveness::OutOfSight { .. } | Liveness::Ended => {}
    }
    let bindings = match source {
        Some(source) => ForeignBindings::Asked(source),
        None if asked.is_unbound => ForeignBindings::Excluded,
        None => ForeignBindings::Unseen,
    };
    Ok(match remove_leftovers(dialer, &entry.topology, asked.messages(), bindings)? {
        Leftovers::Settled(removal) => Outcome::Removed(removal),
        Leftovers::Alive => {
            Outcome::LeftAlone("its connection to the broker is still there".to_owned())
        }
        Leftovers::NotHere => Outcome::LeftAlone(
            "its marker is not on this broker: the broker is another one, or has lost its data"
                .to_owned(),
        ),
        Leftovers::Unknown(text) => {
            Outcome::LeftAlone(format!("the broker gives no information about it: {text}"))
        }
    })
}

impl Report {
    /// Returns whether one of the run's own objects may still exist.
    pub fn is_open(&self) -> bool {
        match &self.outcome {
            Outcome::Running => false,
            Outcome::LeftAlone(_) => true,
            Outcome::Removed(removal) => removal.kept.iter().any(|kept| kept.reason.is_ours()),
        }
    }

    /// Returns sentences for the user: the removed objects, the kept ones, and the command that removes them.
    pub fn sentences(&self) -> Vec<String> {
        let (id, broker) = (self.entry.id(), &self.entry.broker);
        match &self.outcome {
            Outcome::Running => Vec::new(),
            Outcome::LeftAlone(reason) => {
                let what = listed(&self.entry.topology.describe());
                vec![format!(
                    "kept possible leftovers of run {id} ({what}): {reason}; `rabbitscope leftovers --remove --uri \
                     {broker}` removes those that are certain, `rabbitscope leftovers --forget {id}` forgets the run"
                )]
            }
            Outcome::Removed(removal) => removed(id, broker, removal),
        }
    }
}

fn removed(id: &str, broker: &str, removal: &Removal) -> Vec<String> {
    let mut said = Vec::new();
    if !removal.removed.is_empty() {
        let what = listed(&removal.removed);
        said.push(format!("removed leftovers of an interrupted run: {what}"));
    }
    if !removal.kept.is_empty() {
        said.push(format!(
            "kept leftovers of run {id}: {}; {}",
            kept(&removal.kept),
            advice(removal, broker)
        ));
    }
    said
}

fn advice(removal: &Removal, broker: &str) -> String {
    let is_ours = removal.kept.iter().any(|object| object.reason.is_ours());
    let is_unseen = |object: &KeptObject| matches!(object.reason, KeptReason::BindingsUnseen(_));
    if removal.kept.iter().any(is_unseen) {
        format!(
            "if no application uses it, remove it and its messages with `rabbitscope leftovers --remove --uri \
             {broker}` and `--management URL`, which checks its bindings, or `--assume-unbound`"
        )
    } else if is_ours {
        format!(
            "when it is no longer in use, remove it and its messages with `rabbitscope leftovers --remove --uri \
             {broker}`"
        )
    } else {
        "`rabbitmqctl delete_queue NAME` removes an unneeded queue".to_owned()
    }
}

/// Lists the kept objects and the reasons in one sentence.
pub fn kept(kept: &[KeptObject]) -> String {
    listed(&kept.iter().map(ToString::to_string).collect::<Vec<_>>())
}

fn listed(names: &[String]) -> String {
    let mut text = names.iter().take(NAMES_SHOWN).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > NAMES_SHOWN {
        write!(text, " and {} more", names.len() - NAMES_SHOWN).expect("a string takes all");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_cut() {
        let names: Vec<String> = (0..7).map(|number| format!("q{number}")).collect();
        assert_eq!(listed(&names), "q0, q1, q2, q3, q4 and 2 more");
        assert_eq!(listed(&names[..2]), "q0, q1");
    }
}
