//! What the joining of the parts asks for while the load is on.

use std::{
    thread,
    time::{Duration, Instant},
};

use rabbitscope_load::{PartWishes, RemoteEvent, RemoteWorkers};

use super::{
    connection::Controller,
    roster::{LAG_TIME, LOST_TIME, described},
};
use crate::protocol::{ToWorker, WorkerState};

/// How often wishes are sent again: a sign that the controller is there.
const WISH_INTERVAL: Duration = Duration::from_secs(1);

/// From one attempt to reach the bus again to the next.
const RECONNECT_INTERVAL: Duration = Duration::from_millis(500);

impl RemoteWorkers for Controller {
    fn next(&mut self, timeout: Duration) -> Option<RemoteEvent> {
        if self.events.is_empty() {
            if let Err(error) = self.receive(timeout) {
                let text = format!("{error}; connecting again, the load goes on");
                self.events.push_back(RemoteEvent::Notice(text));
                self.find_bus_again();
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
    /// Tries again until it works, or until those who would be waited for are given up.
    fn find_bus_again(&mut self) {
        let began = Instant::now();
        while began.elapsed() < BUS_TIMEOUT {
            thread::sleep(RECONNECT_INTERVAL);
            if self.reconnect().is_ok_and(|is_ours| is_ours) {
                return;
            }
        }
    }

    /// Who was not heard of for a while is named once, and given up later.
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
            let who = described(part, worker);
            let member = &mut self.members[part];
            if member.is_lost || is_done {
                continue;
            }
            let is_lagging = silent >= LAG_TIME;
            if is_lagging && !std::mem::replace(&mut member.is_lagging, is_lagging) {
                member.has_lagged = true;
                let reason = format!("{who} was not heard of for {:.1} s", silent.as_secs_f64());
                self.events.push_back(RemoteEvent::Lagging { worker: part, reason });
            }
            self.members[part].is_lagging = is_lagging;
            if silent >= LOST_TIME {
                self.members[part].is_lost = true;
                let reason = format!(
                    "{who} was not heard of for {} s and is given up: what it did from then on, and \
                     what it would have done, is missing",
                    LOST_TIME.as_secs()
                );
                self.events.push_back(RemoteEvent::Lost { worker: part, reason });
            }
        }
    }
}

/// How long a bus that is gone is waited for before its workers count as lost. Chosen: it is restarted meanwhile.
const BUS_TIMEOUT: Duration = Duration::from_secs(60);

fn late_nanos(state: &WorkerState) -> Option<u64> {
    match state {
        WorkerState::Running { late_nanos, .. } | WorkerState::Finished { late_nanos, .. } => {
            Some(*late_nanos)
        }
        _ => None,
    }
}
