//! The mailbox between the bus thread and the load thread.

use std::{
    sync::{
        Arc, Condvar, Mutex, MutexGuard,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use rabbitscope_measurements::PartWishes;

use crate::protocol::{Assignment, WorkerState};

/// State that both threads share.
#[derive(Default)]
pub(super) struct Mailbox {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Part that the load thread has not taken yet.
    assignment: Option<Assignment>,
    /// Flag that cancels the part that was taken last.
    cancel: Arc<AtomicBool>,
    start: Option<StartOrder>,
    wishes: PartWishes,
    worker: WorkerState,
    /// Updates to send, each with its run.
    updates: Vec<(String, Vec<u8>)>,
    /// Sentences for the user of the worker.
    notes: Vec<String>,
    is_over: bool,
}

/// Start of a run, on the clock of this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StartOrder {
    pub(super) run: String,
    pub(super) origin_nanos: u64,
    pub(super) run_tag: u16,
}

impl Mailbox {
    fn with<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let result = change(&mut self.lock());
        self.changed.notify_all();
        result
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nobody panics while holding the mailbox")
    }

    /// Stores a part of a run, in place of one that has not started. A part that is already known changes nothing.
    pub(super) fn assign(&self, assignment: Assignment) {
        self.with(|state| {
            let is_known = state.worker.run() == Some(&assignment.run)
                || state.assignment.as_ref().is_some_and(|other| other.run == assignment.run);
            let is_running = matches!(state.worker, WorkerState::Running { .. });
            if !is_known && !is_running {
                state.cancel.store(true, Ordering::Relaxed);
                state.assignment = Some(assignment);
            }
        });
    }

    pub(super) fn start(&self, order: StartOrder) {
        self.with(|state| state.start = Some(order));
    }

    pub(super) fn wish(&self, run: &str, wishes: PartWishes) {
        self.with(|state| {
            if state.worker.run() == Some(run) {
                state.wishes = state.wishes.and(wishes);
            }
        });
    }

    /// Cancels the pending part and the running one.
    pub(super) fn cancel(&self) {
        self.with(|state| {
            state.assignment = None;
            state.cancel.store(true, Ordering::Relaxed);
        });
    }

    /// Cancels the run's load if it still runs: the run is over for the controller.
    pub(super) fn dismiss(&self, run: &str) {
        self.with(|state| {
            if state.worker.run() == Some(run) {
                state.cancel.store(true, Ordering::Relaxed);
            }
        });
    }

    /// Ends the worker: there will be no more parts.
    pub(super) fn end(&self) {
        self.with(|state| {
            state.is_over = true;
            state.cancel.store(true, Ordering::Relaxed);
        });
    }

    pub(super) fn worker_state(&self) -> WorkerState {
        self.lock().worker.clone()
    }

    pub(super) fn take_updates(&self) -> Vec<(String, Vec<u8>)> {
        std::mem::take(&mut self.lock().updates)
    }

    /// Waits for a part of a run. Returns none when the worker ends.
    pub(super) fn next(&self) -> Option<(Assignment, Arc<AtomicBool>)> {
        let mut state = self.lock();
        loop {
            if state.is_over {
                return None;
            }
            if let Some(assignment) = state.assignment.take() {
                state.cancel = Arc::default();
                (state.start, state.wishes) = (None, PartWishes::default());
                state.worker =
                    WorkerState::Connecting { run: assignment.run.clone(), done: 0, of: 0 };
                return Some((assignment, Arc::clone(&state.cancel)));
            }
            state = self.changed.wait(state).expect("nobody panics while holding the mailbox");
        }
    }

    pub(super) fn set_state(&self, worker: WorkerState) {
        self.with(|state| state.worker = worker);
    }

    /// Waits for the start of a run, for `wait` at most.
    pub(super) fn wait_for_start(&self, run: &str, wait: Duration) -> Option<StartOrder> {
        let is_other = |state: &mut State| {
            let is_cancelled = state.cancel.load(Ordering::Relaxed);
            !is_cancelled && state.start.as_ref().is_none_or(|order| order.run != run)
        };
        let waited = self.changed.wait_timeout_while(self.lock(), wait, is_other);
        let (state, _) = waited.expect("nobody panics while holding the mailbox");
        state.start.clone().filter(|order| order.run == run)
    }

    pub(super) fn send(&self, run: &str, update: Vec<u8>) {
        self.with(|state| state.updates.push((run.to_owned(), update)));
    }

    pub(super) fn note(&self, sentence: String) {
        self.with(|state| state.notes.push(sentence));
    }

    pub(super) fn take_notes(&self) -> Vec<String> {
        std::mem::take(&mut self.lock().notes)
    }

    pub(super) fn wishes(&self) -> PartWishes {
        self.lock().wishes
    }
}
