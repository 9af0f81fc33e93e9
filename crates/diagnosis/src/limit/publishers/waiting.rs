//! Publishers that send when an answer comes: to a message within a window, to a commit, to a request.
//!
//! They publish no faster than answers let them, whatever the node could do. That is never certain: an answer that
//! takes long may have another cause, which is then named first if anything shows it.

use crate::{
    case::{Answer, Case, Source, Turns, WaitingPublisher},
    limit::{Candidate, LimitKind, candidate::percent},
};

/// Messages below which nothing is judged.
const MIN_MESSAGES: u64 = 50;

/// Share of the published messages that must come from such publishers.
const OF_ALL: f64 = 0.5;

/// Share of their time that explains the rate by itself.
const WAITING: f64 = 0.5;

/// Share from which waiting costs a client something.
const COSTS: f64 = 0.15;

/// Score that names publishers if nothing else explains the rate, before schedulers that are busy and not crowded.
const PERHAPS: f64 = 0.91;

/// Judges the publishers together, if most messages come from those that wait.
pub(in crate::limit) fn candidates(case: &Case) -> Vec<Candidate> {
    case.turns.as_ref().and_then(together).into_iter().collect()
}

fn together(turns: &Turns) -> Option<Candidate> {
    let first = turns.publishers.first()?;
    let messages = turns.publishers.iter().map(|one| one.messages).fold(0, u64::saturating_add);
    if messages < MIN_MESSAGES || (messages as f64) < OF_ALL * turns.published as f64 {
        return None;
    }
    let waits = |one: &WaitingPublisher| one.waiting * one.messages as f64;
    let share = turns.publishers.iter().map(waits).sum::<f64>() / messages as f64;
    if share < COSTS {
        return None;
    }
    let who = match turns.publishers.len() {
        1 => format!("{} sends", first.client),
        count => format!("{count} publishers send"),
    };
    let sentence = format!("{who} the next {}, and not before", what(first));
    let figure = format!(
        "{messages} of {} messages; waiting takes {} of the time between them",
        turns.published,
        percent(share),
    );
    let candidate = Candidate::new(LimitKind::Publishers, &*first.client, share, WAITING, sentence);
    Some(candidate.with(Source::Packets, figure).at_least(PERHAPS).at_most(PERHAPS))
}

fn what(publisher: &WaitingPublisher) -> String {
    match (publisher.answer, publisher.window) {
        (Answer::Reply, _) => "request when a reply comes".to_owned(),
        (Answer::Commit, _) => "messages when their transaction is committed".to_owned(),
        (Answer::Confirm, Some(window)) => {
            format!("message when a confirm comes (at most {window} without one)")
        }
        (Answer::Confirm, None) => "message when a confirm comes".to_owned(),
    }
}
