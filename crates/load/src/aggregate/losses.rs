//! What a load did not deliver or did not measure, in words.

use rabbitscope_runs::record::{LoadTotals, Loss};

/// The losses of a load whose count is not 0.
pub(super) fn losses(
    totals: &LoadTotals,
    (unstamped, before_sent): (u64, u64),
    refusal: Option<&str>,
) -> Vec<Loss> {
    let unconfirmed = Loss {
        what: "unconfirmed messages".to_owned(),
        count: totals.unconfirmed,
        of: totals.counts.published,
        meaning: "sent, but neither confirmed nor refused before the end: they may be lost".into(),
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
    let unmeasured = Loss {
        what: "end-to-end latencies".to_owned(),
        count: unstamped,
        of: totals.counts.consumed,
        meaning: "messages without a time stamp of this run (bodies below 12 bytes, or sent by \
                  another run): delivered and counted, but not measured"
            .to_owned(),
    };
    let before_sent = Loss {
        what: "end-to-end latencies".to_owned(),
        count: before_sent,
        of: totals.counts.consumed,
        meaning: "the reader's clock was behind the sender's by more than the message took: they count as 1 ns, \
                  and are within the error that is stated for latencies across hosts"
            .to_owned(),
    };
    let dropped = Loss {
        what: "scheduled messages".to_owned(),
        count: totals.counts.dropped.saturating_sub(totals.counts.overdue),
        of: totals.counts.scheduled,
        meaning: "not sent: they could not be at their time (`late = \"skip\"`)".to_owned(),
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
    let losses = [unconfirmed, unanswered, unmeasured, before_sent, dropped, overdue]
        .into_iter()
        .chain(of_groups(totals, refusal));
    losses.filter(|loss| loss.count > 0).collect()
}

/// Traced messages for which there was no room.
pub(super) fn lost_traces(left_out: u64, kept: usize) -> Option<Loss> {
    (left_out > 0).then(|| Loss {
        what: "followed messages".to_owned(),
        count: left_out,
        of: left_out + kept as u64,
        meaning: "not in `trace.jsonl`, which has room for so many: raise `trace-every`".to_owned(),
    })
}

/// Losses of callers and churn. `refusal` is the first reason that the broker gave for churn.
fn of_groups(totals: &LoadTotals, refusal: Option<&str>) -> [Loss; 2] {
    let churn = &totals.counts;
    let unanswered = Loss {
        what: "round trips".to_owned(),
        count: totals.counts.requests_unanswered,
        of: totals.counts.requests,
        meaning:
            "requests to which no reply came in time: they are in no latency, but for those that \
                  were awaited when the run ended, which count with their age"
                .to_owned(),
    };
    let failed = Loss {
        what: "openings and closings".to_owned(),
        count: churn.churn_failed,
        of: churn.churn_opened + churn.churn_closed + churn.churn_failed,
        meaning: format!(
            "refused by the broker or lost with their connection, first: {}",
            refusal.unwrap_or("no reason was given")
        ),
    };
    [unanswered, failed]
}
