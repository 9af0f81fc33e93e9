//! How long a channel waits for the next answer of the broker, beyond lost connections.

use crate::{clock::RunInstant, report::ServiceMonitor};

/// The waits of a channel with confirms.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ConfirmWait {
    /// When the last answer came.
    answered_at: RunInstant,
    /// The connection was lost and nothing has been confirmed since. The wait began then, or before.
    interrupted_at: Option<RunInstant>,
}

impl ConfirmWait {
    /// An answer has come. `oldest`: when the oldest message was sent that had none.
    #[inline]
    pub(super) fn on_answer(
        &mut self,
        now: RunInstant,
        oldest: Option<RunInstant>,
        service: &ServiceMonitor,
    ) {
        if let Some(since) = self.since(oldest) {
            service.waited(since, now);
        }
        *self = Self { answered_at: now, interrupted_at: None };
    }

    /// The connection is lost.
    pub(super) fn on_disconnect(&mut self, now: RunInstant, oldest: Option<RunInstant>) {
        self.interrupted_at = Some(self.since(oldest).unwrap_or(now));
    }

    /// No answer will come any more.
    pub(super) fn give_up(
        &self,
        now: RunInstant,
        oldest: Option<RunInstant>,
        service: &ServiceMonitor,
    ) {
        if let Some(since) = self.since(oldest) {
            service.waited(since, now);
        }
    }

    /// Since when it waits; absent: nothing is owed.
    #[inline]
    fn since(&self, oldest: Option<RunInstant>) -> Option<RunInstant> {
        self.interrupted_at.or_else(|| oldest.map(|oldest| oldest.max(self.answered_at)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> RunInstant {
        RunInstant::from_nanos(millis * 1_000_000)
    }

    fn waits(act: impl FnOnce(&mut ConfirmWait, &ServiceMonitor)) -> Vec<(u64, u64)> {
        let service = ServiceMonitor::default();
        act(&mut ConfirmWait::default(), &service);
        let stalls = service.finish(at(10_000)).stalls;
        stalls.iter().map(|it| (it.from_nanos / 1_000_000, it.to_nanos / 1_000_000)).collect()
    }

    #[test]
    fn a_wait_begins_with_the_last_answer_or_with_the_message_that_waits() {
        let found = waits(|wait, service| {
            wait.on_answer(at(10), Some(at(5)), service);
            wait.on_answer(at(700), Some(at(650)), service);
            wait.on_answer(at(900), Some(at(650)), service);
        });
        assert_eq!(found, [(700, 900)], "what nobody had sent was not waited for");
    }

    #[test]
    fn a_lost_connection_does_not_end_a_wait() {
        let found = waits(|wait, service| {
            wait.on_answer(at(10), Some(at(5)), service);
            wait.on_disconnect(at(300), Some(at(20)));
            wait.on_disconnect(at(600), None);
            wait.on_answer(at(800), Some(at(700)), service);
            wait.on_disconnect(at(1000), None);
            wait.give_up(at(1200), None, service);
        });
        assert_eq!(found, [(20, 800), (1000, 1200)]);
    }
}
