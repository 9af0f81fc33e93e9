//! The declarations of a run. They are removed however the run ends, also after an error or a panic.

use std::{
    io,
    ops::{Deref, DerefMut},
    time::Duration,
};

use rabbitscope_fleet::Resumption;
use rabbitscope_load::{BrokerOwner, CleanupJournal, Session};
use rabbitscope_runs::scenario::Scenario;
use rabbitscope_terminal::output;
use rabbitscope_text::display_utc;
use rabbitscope_topology::{OwnedTopology, Removal, TopologyError};

use super::target::Target;
use crate::leftovers::{self, Journal};

/// A session that removes its declarations when it is dropped.
pub(in crate::run) struct DeclaredSession<'a> {
    /// Present until the drop.
    session: Option<Session>,
    target: &'a Target,
}

impl<'a> DeclaredSession<'a> {
    /// Declares the topology. On a broker that rabbitscope did not start, a journal entry comes first. It allows a
    /// later removal if this process is killed.
    pub(in crate::run) fn open(
        scenario: &Scenario,
        target: &'a Target,
        resumption: Option<Resumption>,
    ) -> anyhow::Result<Self> {
        let session = open_session(scenario, target, resumption)?;
        Ok(Self { session: Some(session), target })
    }
}

impl Deref for DeclaredSession<'_> {
    type Target = Session;

    fn deref(&self) -> &Session {
        self.session.as_ref().expect("it is there until it is dropped")
    }
}

impl DerefMut for DeclaredSession<'_> {
    fn deref_mut(&mut self) -> &mut Session {
        self.session.as_mut().expect("it is there until it is dropped")
    }
}

impl Drop for DeclaredSession<'_> {
    fn drop(&mut self) {
        self.session.take().into_iter().for_each(|session| close(session, self.target));
    }
}

fn open_session(
    scenario: &Scenario,
    target: &Target,
    resumption: Option<Resumption>,
) -> anyhow::Result<Session> {
    if let Some(Resumption { declared, unmarked, started_unix_nanos }) = resumption {
        let began = display_utc(Duration::from_nanos(started_unix_nanos));
        output::note(&format!("resuming the run that began {began} and lost its controller"));
        return Ok(Session::resume(scenario, &target.dialer, declared, unmarked)?);
    }
    let Some(journal) = &target.journal else {
        return Ok(Session::open(scenario, &target.dialer, BrokerOwner::Caller)?);
    };
    let entries = Entries { journal, broker: target.dialer.uri().to_string() };
    let session = Session::open(scenario, &target.dialer, BrokerOwner::SomebodyElse(&entries))?;
    if let Some(words) = session.unmarked() {
        output::note(&format!(
            "if this run is killed, a later run cannot remove its objects, because the user may not declare exchanges \
             and queues `rabbitscope.*` ({words})"
        ));
    }
    Ok(session)
}

/// The journal, for a run on one broker.
struct Entries<'a> {
    journal: &'a Journal,
    broker: String,
}

impl CleanupJournal for Entries<'_> {
    fn remember(&self, declaring: &OwnedTopology) -> io::Result<()> {
        let added = self.journal.add(&self.broker, declaring);
        added.map_err(|error| io::Error::other(format!("{error:#}")))
    }

    fn undone(&self, declared: &OwnedTopology, removal: Result<Removal, TopologyError>) {
        self.settle(&declared.token, removal);
    }
}

impl Entries<'_> {
    /// Settles a removal. A topology that cannot be removed now stays in the journal, with a note to the user. The
    /// results of the run remain valid.
    fn settle(&self, token: &str, removal: Result<Removal, TopologyError>) {
        let next = format!("`rabbitscope leftovers --remove --uri {}`", self.broker);
        match removal {
            Ok(removal) => {
                if !removal.kept.is_empty() {
                    let kept = leftovers::kept(&removal.kept);
                    output::note(&format!("objects of this run stay on the broker: {kept}"));
                }
                if removal.kept.iter().any(|kept| kept.reason.is_ours()) {
                    output::note(&format!(
                        "when no longer in use, {next} removes them; with --remove-leftovers, a run also removes \
                         queues with messages"
                    ));
                } else {
                    self.journal.remove(token);
                }
            }
            Err(error) => output::note(&format!(
                "could not remove the objects of this run: {error}; {next} removes them"
            )),
        }
    }
}

/// Removes the declarations of the session. A throwaway broker would take them with it anyway.
fn close(session: Session, target: &Target) {
    let token = session.declared().token.clone();
    let removal = session.close_with(target.asked.messages());
    let Some(journal) = &target.journal else { return };
    Entries { journal, broker: target.dialer.uri().to_string() }.settle(&token, removal);
}
