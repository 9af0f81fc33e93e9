//! What becomes of an entry of the journal: asked on this machine first, then on the broker.

use std::fmt::Write;

use rabbitscope_load::{
    BindingSource, Dialer, ForeignBindings, KeptObject, KeptReason, Leftovers, Messages, Removal,
    remove_leftovers,
};

use super::{Entry, Journal};
use crate::machine::Liveness;

/// Names that are listed in a sentence.
const NAMES_SHOWN: usize = 5;

/// What a removal may take. By default only what has certainly ended and cannot hold or lead to anything of others:
/// no person asked, a run does it before it begins and when it ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RemovalConsent {
    /// A person asked and answers for it: messages may go, too, and what belongs to a run that cannot be seen from here.
    pub is_asked: bool,
    /// A person says that no application has bound or declared the queues and exchanges of killed runs.
    pub is_unbound: bool,
}

impl RemovalConsent {
    /// What becomes of messages.
    pub(crate) fn messages(self) -> Messages {
        if self.is_asked { Messages::Discard } else { Messages::Keep }
    }
}

/// What became of one entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The run goes on.
    Running,
    /// Nothing was touched; why.
    LeftAlone(String),
    /// What is certainly its own was removed, but for what was kept.
    Removed(Removal),
}

/// An entry and what became of it.
#[derive(Clone, Debug)]
pub struct Report {
    /// The entry.
    pub entry: Entry,
    /// What became of it.
    pub outcome: Outcome,
}

/// Removes what runs left on the broker to which `dialer` leads. An entry goes with the last thing that
/// is its own.
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
            let reason =
                format!("it ran {place}, and whether it still does cannot be seen from here");
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
            "its marker is not on this broker, which is another one or has lost its data"
                .to_owned(),
        ),
        Leftovers::Unknown(text) => {
            Outcome::LeftAlone(format!("the broker does not say whether it is there: {text}"))
        }
    })
}

impl Report {
    /// Something that is the run's own may still be there.
    pub fn is_open(&self) -> bool {
        match &self.outcome {
            Outcome::Running => false,
            Outcome::LeftAlone(_) => true,
            Outcome::Removed(removal) => removal.kept.iter().any(|kept| kept.reason.is_ours()),
        }
    }

    /// Sentences for people: what was removed, what was left and the command that removes it.
    pub fn sentences(&self) -> Vec<String> {
        let (id, broker) = (self.entry.id(), &self.entry.broker);
        match &self.outcome {
            Outcome::Running => Vec::new(),
            Outcome::LeftAlone(reason) => {
                let what = listed(&self.entry.topology.describe());
                vec![format!(
                    "left alone what run {id} may have left behind ({what}): {reason}; \
                     `rabbitscope leftovers --remove --uri {broker}` removes it where it is certain, \
                     `rabbitscope leftovers --forget {id}` forgets it"
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
        said.push(format!("removed what an interrupted run had left behind: {what}"));
    }
    if !removal.kept.is_empty() {
        said.push(format!(
            "left alone of run {id}: {}; {}",
            kept(&removal.kept),
            advice(removal, broker)
        ));
    }
    said
}

fn advice(removal: &Removal, broker: &str) -> String {
    let is_ours = removal.kept.iter().any(|it| it.reason.is_ours());
    let is_unseen = |it: &KeptObject| matches!(it.reason, KeptReason::BindingsUnseen(_));
    if removal.kept.iter().any(is_unseen) {
        format!(
            "if no application uses it, `rabbitscope leftovers --remove --uri {broker}` with \
             `--management URL`, which looks at its bindings, or with `--assume-unbound` removes it, \
             messages included"
        )
    } else if is_ours {
        format!(
            "once nobody uses it, `rabbitscope leftovers --remove --uri {broker}` removes it, messages included"
        )
    } else {
        "`rabbitmqctl delete_queue NAME` removes a queue that nobody needs".to_owned()
    }
}

/// What was kept and why, in one sentence.
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
        let names: Vec<String> = (0..7).map(|at| format!("q{at}")).collect();
        assert_eq!(listed(&names), "q0, q1, q2, q3, q4 and 2 more");
        assert_eq!(listed(&names[..2]), "q0, q1");
    }
}
