//! Events and wishes between the load's aggregation and the workers, while the load runs.

use std::{
    sync::atomic::AtomicBool,
    time::{Duration, Instant},
};

use rabbitscope_measurements::{PartWishes, RemoteEvent, RemoteWorkers};

use super::{
    bus_search::{BusSearch, Searched},
    connection::Controller,
    roster::{LAG_TIME, LOST_TIME, described},
};
use crate::protocol::{ToWorker, WorkerState};

/// Interval at which wishes are repeated, as a sign of life of the controller.
const WISH_INTERVAL: Duration = Duration::from_secs(1);

impl RemoteWorkers for Controller {
    fn next(&mut self, timeout: Duration, stop: &AtomicBool) -> Option<RemoteEvent> {
        if self.events.is_empty() {
            match self.search.take() {
                Some(search) => self.find_bus_again(search, stop),
                None => self.receive_or_search(timeout),
            }
            self.look_for_silence(Instant::now());
        }
        self.events.pop_front()
    }

    fn wish(&mut self, wishes: PartWishes) {
        let is_due = self
            .wished
            .is_none_or(|(at, before)| before != wishes || at.elapsed() >= WISH_INTERVAL);
        if is_due {
            self.wished = Some((Instant::now(), wishes));
            self.tell_all(&ToWorker::wish(&self.begun.run.clone(), wishes));
        }
    }

    fn is_behind(&self) -> bool {
        !self.events.is_empty() || self.awaited_mark.is_some()
    }

    fn give_up(&mut self, part: usize) -> String {
        self.members[part].is_lost = true;
        described(part, &self.begun.members[part].worker)
    }
}

impl Controller {
    /// Begins the search if the bus is lost. The user hears of that before the search ends.
    fn receive_or_search(&mut self, timeout: Duration) {
        if let Err(error) = self.receive(timeout) {
            let text = format!("{error}; reconnecting, the load continues");
            self.events.push_back(RemoteEvent::Notice(text));
            self.search = Some(BusSearch::start(&self.options));
        }
    }

    /// Waits until the bus is there again. Without it, the workers can neither be heard nor told to stop.
    fn find_bus_again(&mut self, search: BusSearch, stop: &AtomicBool) {
        match search.wait(stop) {
            Searched::Found(bus) => self.take_bus(*bus),
            Searched::Stopped => self.leave_workers("cannot be told to stop"),
            Searched::GivenUp => self.leave_workers("cannot be heard"),
        }
    }

    /// Gives up all workers.
    fn leave_workers(&mut self, why: &str) {
        self.is_without_bus = true;
        for part in 0..self.members.len() {
            let worker = &self.begun.members[part].worker;
            let known = self.roster.get(&worker.id);
            let is_done = known.is_some_and(|known| {
                let is_of_run = known.state.run() == Some(&self.begun.run);
                is_of_run && matches!(known.state, WorkerState::Finished { .. })
            });
            let name = described(part, worker);
            // The last updates of one that is done may be unread. If they are not, nothing comes of the event.
            let member = &mut self.members[part];
            if member.is_lost {
                continue;
            }
            member.is_lost = !is_done;
            let reason = format!(
                "{name} {why}, as the bus is away, and is given up: the rest of its part of the load is missing"
            );
            self.events.push_back(RemoteEvent::Lost { worker: part, reason });
        }
    }

    /// Reports a silent worker once as lagging, and later as lost.
    pub(super) fn look_for_silence(&mut self, now: Instant) {
        for part in 0..self.members.len() {
            let worker = &self.begun.members[part].worker;
            let Some(known) = self.roster.get(&worker.id) else { continue };
            let is_of_run = known.state.run() == Some(&self.begun.run);
            if is_of_run && let Some(late) = late_nanos(&known.state) {
                self.members[part].late_nanos = late;
            }
            let silent = now.saturating_duration_since(known.heard);
            let is_done = is_of_run && matches!(known.state, WorkerState::Finished { .. });
            let name = described(part, worker);
            let member = &mut self.members[part];
            if member.is_lost || is_done {
                continue;
            }
            let is_lagging = silent >= LAG_TIME;
            if is_lagging && !std::mem::replace(&mut member.is_lagging, is_lagging) {
                member.has_lagged = true;
                let reason = format!("{name} sent nothing for {:.1} s", silent.as_secs_f64());
                self.events.push_back(RemoteEvent::Lagging { worker: part, reason });
            }
            self.members[part].is_lagging = is_lagging;
            if silent >= LOST_TIME {
                self.members[part].is_lost = true;
                let reason = format!(
                    "{name} sent nothing for {} s and is dropped: the rest of its part of the load is missing",
                    LOST_TIME.as_secs()
                );
                self.events.push_back(RemoteEvent::Lost { worker: part, reason });
            }
        }
    }
}

fn late_nanos(state: &WorkerState) -> Option<u64> {
    match state {
        WorkerState::Running { late_nanos, .. } | WorkerState::Finished { late_nanos, .. } => {
            Some(*late_nanos)
        }
        _ => None,
    }
}
