//! Messages that were due but not sent, or not confirmed, when the load ended.

use rabbitscope_runs::{record::Latency, scenario::LatePolicy};
use rabbitscope_timing::Nanos;

use super::{batch::SentMessage, publisher::Publisher, sends::Sends};
use crate::{link::serve_context::ServeContext, pacing::LATE_TOLERANCE};

impl<W: Sends> Publisher<W> {
    /// Counts messages that have been due for longer than the tolerance as overdue, or as skipped if that is the
    /// policy. The client has already sent all the messages that it could.
    pub(super) fn count_overdue(&mut self, context: &mut ServeContext<'_>) {
        let mut left = self.limit.map_or(u64::MAX, |limit| limit - self.progress.sent);
        let Some(arrivals) = &mut self.arrivals else { return };
        let latencies = [
            self.window.map(|_| Latency::ConfirmIntended),
            context.run.is_consumed.then_some(Latency::EndToEndIntended),
            context.run.ends.processed.then_some(Latency::ProcessedIntended),
            context.run.ends.settled.then_some(Latency::SettledIntended),
        ];
        let latencies: Vec<_> = latencies.into_iter().flatten().collect();
        let now = context.now;
        while let Some(due) = arrivals.due().filter(|due| *due + LATE_TOLERANCE <= now && left > 0)
        {
            left -= 1;
            arrivals.advance();
            match self.late {
                LatePolicy::Send => context.overdue(now.since(due), &latencies),
                LatePolicy::Skip => context.left_out(Nanos::ZERO),
            }
        }
    }
}

/// Records the age of a message that will get no confirm.
pub(super) fn never_confirmed(sent: &SentMessage, context: &mut ServeContext<'_>) {
    let age = context.now.since(sent.at);
    context.measured.measure_overdue(Latency::Confirm, age);
    if let Some(late) = sent.lateness {
        context.measured.measure_overdue(Latency::ConfirmIntended, age + late);
    }
}
