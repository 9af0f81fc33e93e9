//! What publishers owe when the load ends: messages that were due and not sent, or not answered.

use rabbitscope_runs::scenario::LatePolicy;

use super::{super::Moment, batch::Sent, publisher::Publisher};
use crate::{latency::Latency, tempo::LATE_NANOS};

impl Publisher {
    /// Counts what is due by more than the tolerance as overdue, or left out if that is the policy. What
    /// the client could send it has sent.
    pub(super) fn count_overdue(&mut self, moment: &mut Moment<'_>) {
        let mut left = self.limit.map_or(u64::MAX, |limit| limit - self.progress.sent);
        let Some(pace) = &mut self.pace else { return };
        let latencies = [
            self.window.map(|_| Latency::ConfirmIntended),
            moment.is_consumed.then_some(Latency::EndToEndIntended),
        ];
        let latencies: Vec<_> = latencies.into_iter().flatten().collect();
        let end = moment.now.saturating_sub(LATE_NANOS);
        while let Some(due) = pace.due().filter(|due| *due <= end && left > 0) {
            left -= 1;
            pace.advance();
            match self.late {
                LatePolicy::Send => moment.overdue(moment.now - due, &latencies),
                LatePolicy::Skip => moment.left_out(0),
            }
        }
    }
}

/// No confirm comes any more: the message counts with its age.
pub(super) fn never_confirmed(sent: &Sent, moment: &mut Moment<'_>) {
    let age = moment.now.saturating_sub(sent.at);
    moment.tally.measure_overdue(Latency::Confirm, age);
    if let Some(late) = sent.late_nanos {
        moment.tally.measure_overdue(Latency::ConfirmIntended, age.saturating_add(late));
    }
}
