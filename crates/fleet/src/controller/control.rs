//! A run of a fleet, from gathering the workers to dismissing them.

use std::{sync::atomic::AtomicBool, time::Duration};

use rabbitscope_load::Session;
use rabbitscope_measurements::{LoadOutcome, Progress};

use super::connection::Controller;
use crate::error::FleetError;

/// The broker under test and the scenario, as the workers receive them.
#[derive(Clone, Copy)]
pub struct FleetTarget<'a> {
    /// The resolved scenario, without secrets.
    pub scenario: &'a str,
    /// Name of the scenario.
    pub name: &'a str,
    /// Addresses with passwords. They go to the workers, never to the log.
    pub uris: &'a [String],
    /// Token of the run, a part of names on the broker.
    pub token: &'a str,
}

impl Controller {
    /// Gathers workers, assigns their parts, starts them and joins their measurements. Resumes the run if
    /// [`find_run`](Self::find_run) found one.
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
            // The bus may have closed the connection during minutes of silence.
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

/// Length of a run's name: that many leading digits of its token.
const RUN_DIGITS: usize = 12;
