//! A run from its first worker to its last.

use std::{sync::atomic::AtomicBool, time::Duration};

use rabbitscope_load::{LoadOutcome, Progress, Session};

use super::connection::Controller;
use crate::error::FleetError;

/// The broker under test, as workers are to reach it.
#[derive(Clone, Copy)]
pub struct FleetTarget<'a> {
    /// The scenario as resolved, without secrets.
    pub scenario: &'a str,
    /// Its name.
    pub name: &'a str,
    /// Addresses, with passwords: they go to the workers, and never to the log.
    pub uris: &'a [String],
    /// Of the run, in names on the broker.
    pub token: &'a str,
}

impl Controller {
    /// Gathers workers, gives them their parts, starts them and joins what they measure. A run that was found in the
    /// log is gone on with.
    pub fn run(
        &mut self,
        session: &mut Session,
        target: &FleetTarget<'_>,
        progress: &mut dyn FnMut(Progress<'_>),
        stop: &AtomicBool,
    ) -> Result<LoadOutcome, FleetError> {
        let begun = if self.is_resumed {
            self.remote_start(self.age_of_begun())
        } else {
            self.prepare(session, target)?;
            self.gather(progress, stop)?;
            self.assign(target, progress, stop)?;
            session.wait_for_start(stop);
            // The bus ends a connection that was silent for minutes.
            if self.receive(Duration::ZERO).is_err() {
                self.reconnect()?;
            }
            self.begin(stop)?
        };
        let outcome = session.run_remote(&begun, self, progress, stop);
        self.note_clocks_after();
        self.dismiss();
        Ok(outcome)
    }

    fn prepare(&mut self, session: &Session, target: &FleetTarget<'_>) -> Result<(), FleetError> {
        let declared = serde_json::to_value(session.declared());
        self.begun.run = target.token.chars().take(RUN_DIGITS).collect();
        target.name.clone_into(&mut self.begun.name);
        target.scenario.clone_into(&mut self.begun.scenario);
        self.begun.declared = declared.expect("names and flags are JSON");
        self.begun.unmarked = session.unmarked().map(str::to_owned);
        self.bus.begin_log()?;
        self.bus.read_log()
    }
}

/// Digits of the token that a run is called by.
const RUN_DIGITS: usize = 12;
