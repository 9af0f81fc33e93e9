//! Times for which a channel waits for the next answer of the broker, across lost connections.

use rabbitscope_measurements::ServiceMonitor;
use rabbitscope_timing::RunInstant;

/// The waits of a channel with confirms.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ConfirmWait {
    /// Time of the last answer.
    answered_at: RunInstant,
    /// Set from the loss of a connection to the next confirm. It is the start of the wait, which is the loss or
    /// earlier.
    interrupted_at: Option<RunInstant>,
}

impl ConfirmWait {
    /// Notes an answer. `oldest` is the sending time of the oldest message without an answer.
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

    /// Notes the loss of the connection.
    pub(super) fn on_disconnect(&mut self, now: RunInstant, oldest: Option<RunInstant>) {
        self.interrupted_at = Some(self.since(oldest).unwrap_or(now));
    }

    /// Reports the current wait at the end, when no more answers arrive.
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

    /// Returns the start of the current wait; absent if no answer is owed.
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
        stalls
            .iter()
            .map(|stall| (stall.from_nanos / 1_000_000, stall.to_nanos / 1_000_000))
            .collect()
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
