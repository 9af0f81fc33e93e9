//! A recorded run: the load generator knows what it asked for, and what its publishers and consumers waited for.

use rabbitscope_text::grouped;

use super::{Candidate, LimitKind, candidate::percent};
use crate::case::{Case, Load, LoadConsumers, Source};

/// Ready messages below which a queue has no backlog, as for a running node.
const MIN_READY: u64 = 20;

/// Used share of the prefetch from which consumers are the limit.
const FULL: f64 = 0.8;

/// Unconfirmed messages up to which a publisher works one by one.
const ONE_BY_ONE: u64 = 2;

/// Share of a publisher's time that it must wait for confirms.
const WAITING: f64 = 0.5;

/// Late share of the scheduled messages, and growth of the backlog, up to which a broker keeps up.
const KEPT: f64 = 0.01;

/// Returns the reason why a run does not show the broker's limit.
pub(super) fn obstacle(case: &Case) -> Option<String> {
    let doubt = case.load.as_ref()?.doubts.first()?;
    Some(format!("cannot tell, because the load generator was no fair measure: {doubt}"))
}

/// Judges publishers and consumers of a run.
pub(super) fn candidates(case: &Case) -> Vec<Candidate> {
    let Some(load) = &case.load else { return Vec::new() };
    let consumers = load.consumers.as_ref().and_then(consumers);
    consumers.into_iter().chain(publishers(load)).collect()
}

/// Returns the sentence about a broker that served everything that the schedule of a run asked for.
pub(super) fn serves_schedule(case: &Case) -> Option<String> {
    let load = case.load.as_ref()?;
    let scheduled = load.scheduled_per_second.filter(|rate| *rate > 0.0)?;
    let is_kept = load.late_share <= KEPT && load.backlog_growth? <= KEPT;
    is_kept.then(|| {
        format!(
            "nothing limits the node: it serves the {scheduled:.0} messages a second that the run's schedule asks \
             for; {:.1} % of them are late",
            load.late_share * 100.0,
        )
    })
}

fn consumers(consumers: &LoadConsumers) -> Option<Candidate> {
    let LoadConsumers { queue, held, may_hold, ready } = consumers;
    if *ready < MIN_READY || *may_hold == 0 {
        return None;
    }
    let share = held / *may_hold as f64;
    let (permitted, waiting) = (grouped(*may_hold), grouped(*ready));
    let sentence = format!(
        "the consumers of {queue} hold {held:.0} of the {permitted} messages that their prefetch permits, and \
         {waiting} are ready",
    );
    let figure =
        format!("{held:.0} unacknowledged on average, {} of their prefetch", percent(share));
    let candidate = Candidate::new(LimitKind::Consumers, &**queue, share, FULL, sentence);
    Some(candidate.with(Source::Load, figure))
}

fn publishers(load: &Load) -> Option<Candidate> {
    let window = load.confirm_window.filter(|window| *window <= ONE_BY_ONE)?;
    let share = load.held_back_share;
    let sentence =
        "the publishers wait for the confirm of each message before the next one".to_owned();
    let figure = format!(
        "at most {window} unconfirmed for each publisher; that held them back in {} of the time",
        percent(share),
    );
    let candidate = Candidate::new(LimitKind::Publishers, "", share, WAITING, sentence);
    Some(candidate.with(Source::Load, figure))
}
