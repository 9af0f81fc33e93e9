//! The messages and measurements that a load lost, in words.

use rabbitscope_runs::record::{LoadTotals, Loss};

/// Reasons for losses, as the broker gave them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LossReasons<'a> {
    /// Reason of an alarm that blocked connections when the run ended.
    pub(super) alarm: Option<&'a str>,
    /// The first refusal of churn.
    pub(super) churn_refusal: Option<&'a str>,
}

/// Returns the losses of a load whose count is not 0.
pub(super) fn losses(
    totals: &LoadTotals,
    (unstamped, before_sent): (u64, u64),
    reasons: LossReasons<'_>,
) -> Vec<Loss> {
    let alarm = reasons.alarm.map_or_else(String::new, |reason| {
        format!("; an alarm of the broker blocked publishers at the end: {reason}")
    });
    let unconfirmed = Loss {
        what: "unconfirmed messages".to_owned(),
        count: totals.unconfirmed,
        of: totals.counts.published,
        meaning: format!(
            "sent, but not confirmed or refused before the end: they may be lost{alarm}"
        ),
    };
    let unanswered = Loss {
        what: "messages unanswered at a lost connection".to_owned(),
        // A message that was sent again is answered again, or counted again.
        count: totals.counts.unanswered.saturating_sub(totals.counts.republished),
        of: totals.counts.published,
        meaning: "sent over a connection that was lost before the broker confirmed or refused \
                  them: they may be lost"
            .to_owned(),
    };
    let unaccepted = Loss {
        what: "written messages".to_owned(),
        count: unaccepted(totals),
        of: totals.counts.published,
        meaning: format!(
            "written without confirms, but not known to be accepted at the end: the broker may never have read \
             them{alarm}"
        ),
    };
    let losses = [unconfirmed, unanswered, unaccepted]
        .into_iter()
        .chain(of_measurements(totals, (unstamped, before_sent)))
        .chain(of_schedules(totals))
        .chain(of_groups(totals, reasons.churn_refusal));
    losses.filter(|loss| loss.count > 0).collect()
}

/// Deliveries of unknown latency.
fn of_measurements(totals: &LoadTotals, (unstamped, before_sent): (u64, u64)) -> [Loss; 2] {
    let unmeasured = Loss {
        what: "end-to-end latencies".to_owned(),
        count: unstamped,
        of: totals.counts.consumed,
        meaning: "messages without a time stamp of this run (bodies below 12 bytes, or sent by another run): counted \
                  as delivered, but not measured"
            .to_owned(),
    };
    let before_sent = Loss {
        what: "end-to-end latencies".to_owned(),
        count: before_sent,
        of: totals.counts.consumed,
        meaning: "the reader's clock was behind the sender's by more than the latency: they count as 1 ns, within the \
                  stated error of latencies across hosts"
            .to_owned(),
    };
    [unmeasured, before_sent]
}

/// Scheduled messages that were not sent.
fn of_schedules(totals: &LoadTotals) -> [Loss; 2] {
    let dropped = Loss {
        what: "scheduled messages".to_owned(),
        count: totals.counts.dropped.saturating_sub(totals.counts.overdue),
        of: totals.counts.scheduled,
        meaning: "not sent, because they were late (`late = \"skip\"`)".to_owned(),
    };
    let overdue = Loss {
        what: "overdue messages".to_owned(),
        count: totals.counts.overdue,
        of: totals.counts.scheduled,
        meaning:
            "due, but not sent when the load ended: they count as late, and with their age in the \
                  latencies from the schedule"
                .to_owned(),
    };
    [dropped, overdue]
}

/// Messages without confirms that were written but not accepted. 0 if a process of an older version took part.
fn unaccepted(totals: &LoadTotals) -> u64 {
    let counts = &totals.counts;
    let Some(accepted) = counts.accepted.get() else { return 0 };
    let answered = accepted + counts.nacked + counts.unanswered + totals.unconfirmed;
    counts.published.saturating_sub(answered)
}

/// Traced messages beyond the limit.
pub(super) fn lost_traces(left_out: u64, kept: usize) -> Option<Loss> {
    (left_out > 0).then(|| Loss {
        what: "followed messages".to_owned(),
        count: left_out,
        of: left_out + kept as u64,
        meaning: "not in `trace.jsonl`, because it is full: raise `trace-every`".to_owned(),
    })
}

/// Losses of callers and churn. `refusal` is the broker's first reason for refusing churn.
fn of_groups(totals: &LoadTotals, refusal: Option<&str>) -> [Loss; 2] {
    let churn = &totals.counts;
    let unanswered = Loss {
        what: "round trips".to_owned(),
        count: totals.counts.requests_unanswered,
        of: totals.counts.requests,
        meaning:
            "requests without a reply in time: no latency includes them, except those pending at the end of the run, \
             which count with their age"
                .to_owned(),
    };
    let failed = Loss {
        what: "openings and closings".to_owned(),
        count: churn.churn_failed,
        of: churn.churn_opened + churn.churn_closed + churn.churn_failed,
        meaning: format!(
            "refused by the broker or lost with their connection, first: {}",
            refusal.unwrap_or("no reason given")
        ),
    };
    [unanswered, failed]
}
