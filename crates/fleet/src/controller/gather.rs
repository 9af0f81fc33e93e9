//! Gathering of workers, assignment of their parts, and the wait for their connections.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use rabbitscope_measurements::Progress;

use super::{
    connection::Controller,
    control::FleetTarget,
    roster::{LOST_TIME, described},
};
use crate::{
    error::FleetError,
    protocol::{Assignment, Begun, MemberStart, ToWorker, WorkerState},
};

/// Longest wait for a message.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Interval at which a part is assigned again to a worker that does not know of it. A message can be lost while its
/// queue is declared again.
const ASSIGN_INTERVAL: Duration = Duration::from_secs(2);

impl Controller {
    /// Waits until enough workers are present.
    pub(super) fn gather(
        &mut self,
        progress: &mut dyn FnMut(Progress<'_>),
        stop: &AtomicBool,
    ) -> Result<(), FleetError> {
        let (began, mut told) = (Instant::now(), None);
        let chosen = loop {
            if stop.load(Ordering::Relaxed) {
                return Err(FleetError::Stopped);
            }
            self.receive(POLL_INTERVAL)?;
            let (wanted, now) = (self.options.workers, Instant::now());
            if let Some(chosen) = self.roster.choose(wanted, &self.options.version, now) {
                break chosen;
            }
            let came = self.roster.present(now).count();
            // The first hellos take half a second.
            if began.elapsed() >= ASSIGN_INTERVAL && told != Some(came) {
                told = Some(came);
                let text = format!("waiting for workers: {came} of {wanted} have joined");
                progress(Progress::Notice(&text));
            }
            if began.elapsed() >= self.options.patience {
                return Err(self.missing(now));
            }
        };
        let member = |worker| MemberStart { worker, ..MemberStart::default() };
        let members = chosen.into_iter().map(member).collect();
        self.take_begun(Begun { members, ..self.begun.clone() });
        Ok(())
    }

    /// Returns the error for missing workers, with the reason for each worker that cannot be used.
    fn missing(&self, now: Instant) -> FleetError {
        let own = &self.options.version;
        let reasons = self.roster.present(now).filter_map(|known| {
            let name = format!("pid {} on {}", known.worker.pid, known.worker.host);
            if known.worker.version != *own {
                let theirs = &known.worker.version;
                return Some(format!(
                    "{name} has version {theirs}, this controller {own}: use the same build"
                ));
            }
            matches!(known.state, WorkerState::Running { .. })
                .then(|| format!("{name} is busy with another run"))
        });
        let refused = reasons.fold(String::new(), |all, reason| all + "; " + &reason);
        FleetError::Missing {
            came: self.roster.present(now).count(),
            wanted: self.options.workers,
            seconds: self.options.patience.as_secs(),
            refused,
        }
    }

    /// Assigns a part to every worker, and waits until all are connected to the broker under test.
    pub(super) fn assign(
        &mut self,
        target: &FleetTarget<'_>,
        progress: &mut dyn FnMut(Progress<'_>),
        stop: &AtomicBool,
    ) -> Result<(), FleetError> {
        let mut assigned: Option<Instant> = None;
        loop {
            if stop.load(Ordering::Relaxed) {
                self.dismiss();
                return Err(FleetError::Stopped);
            }
            if assigned.is_none_or(|instant| instant.elapsed() >= ASSIGN_INTERVAL) {
                assigned = Some(Instant::now());
                self.assign_again(target);
            }
            self.receive(POLL_INTERVAL)?;
            let (done, of) = self.connected()?;
            progress(Progress::Connecting { done, of });
            if self.note_ready() {
                return Ok(());
            }
        }
    }

    fn assign_again(&mut self, target: &FleetTarget<'_>) {
        let run = self.begun.run.clone();
        for part in 0..self.members.len() {
            let worker = &self.begun.members[part].worker;
            let state = self.roster.get(&worker.id).map(|known| &known.state);
            if state.and_then(WorkerState::run) == Some(&run) {
                continue;
            }
            let number = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
            let assignment = Assignment {
                run: run.clone(),
                token: target.token.to_owned(),
                scenario: self.begun.scenario.clone(),
                uris: if worker.has_broker { Vec::new() } else { target.uris.to_vec() },
                part: number(part),
                of: number(self.members.len()),
            };
            self.tell(part, &ToWorker::Assign(Box::new(assignment)));
        }
    }

    /// Returns the connections that are open and those that are known to be needed. Fails if a worker cannot connect.
    fn connected(&mut self) -> Result<(usize, usize), FleetError> {
        let (mut done, mut of) = (0_usize, 0_usize);
        let mut failed = None;
        for (part, member) in self.begun.members.iter().enumerate() {
            let name = described(part, &member.worker);
            let Some(known) = self.roster.get(&member.worker.id) else { continue };
            match &known.state {
                WorkerState::Connecting { run, done: some, of: all } if *run == self.begun.run => {
                    (done, of) = (done.saturating_add(*some), of.saturating_add(*all));
                }
                WorkerState::Ready { run, connections, .. } if *run == self.begun.run => {
                    if !known.state.ready(run).is_some_and(|size| size.is_possible()) {
                        let reason =
                            format!("it reports an impossible size of its part: {:?}", known.state);
                        failed = Some(FleetError::Worker { worker: name, reason });
                    }
                    (done, of) =
                        (done.saturating_add(*connections), of.saturating_add(*connections));
                }
                WorkerState::Finished { run, error: Some(reason), .. }
                    if *run == self.begun.run =>
                {
                    failed = Some(FleetError::Worker { worker: name, reason: reason.clone() });
                }
                _ if known.heard.elapsed() >= LOST_TIME => {
                    let reason = format!("it sent nothing for {} s", LOST_TIME.as_secs());
                    failed = Some(FleetError::Worker { worker: name, reason });
                }
                _ => {}
            }
        }
        failed.map_or(Ok((done, of)), |error| {
            self.dismiss();
            Err(error)
        })
    }

    /// Notes the size of every part. Returns false until every worker waits for the start.
    fn note_ready(&mut self) -> bool {
        let run = self.begun.run.clone();
        let sizes = self.begun.members.iter().map(|member| {
            let known = self.roster.get(&member.worker.id)?;
            known.state.ready(&run)
        });
        let Some(sizes) = sizes.collect::<Option<Vec<_>>>() else { return false };
        for (member, size) in self.begun.members.iter_mut().zip(sizes) {
            member.load_threads = size.load_threads;
            member.churn_groups = size.churn_groups;
            member.connections = size.connections;
        }
        true
    }

    /// Releases every worker for another run.
    pub(super) fn dismiss(&mut self) {
        self.tell_all(&ToWorker::Dismiss { run: self.begun.run.clone() });
        // This call writes the messages. If the bus is gone, there is no way to tell the workers.
        self.receive(Duration::ZERO).ok();
    }
}
