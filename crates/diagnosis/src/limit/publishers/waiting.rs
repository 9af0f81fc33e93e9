//! Publishers that send when an answer comes: to a message within a window, to a commit, to a request.
//!
//! They publish no faster than answers let them, whatever the node could do. That is never certain: an answer that
//! takes long may have another cause, which is then named first if anything shows it.

use crate::{
    case::{Answer, Case, ChannelCase, Source, Turns, WaitingPublisher},
    limit::{Candidate, LimitKind, candidate::percent, sight},
};

/// Messages below which nothing is judged.
const MIN_MESSAGES: u64 = 50;

/// Share of the published messages that must come from such publishers. With less than half of them, the messages of a relay,
/// which publishes each one again, do not decide.
const OF_ALL: f64 = 0.4;

/// Share of their time that explains the rate by itself.
const WAITING: f64 = 0.5;

/// Share from which waiting costs a client something.
const COSTS: f64 = 0.15;

/// Score that names publishers if nothing else explains the rate, before schedulers that are busy and not crowded.
const PERHAPS: f64 = 0.91;

/// Unconfirmed messages up to which a publisher may wait for each confirm.
const ONE_BY_ONE: u64 = 2;

/// Score of publishers that perhaps wait. It makes the absence of a limit uncertain.
const DOUBTFUL: f64 = 0.85;

/// Judges the publishers together, if most messages come from those that wait.
pub(in crate::limit) fn candidates(case: &Case) -> Vec<Candidate> {
    let seen = case.turns.as_ref().and_then(|turns| together(turns).or_else(|| perhaps(turns)));
    seen.or_else(|| hidden(case)).into_iter().collect()
}

/// Judges publishers whose messages no packet shows, by the statistics of their channels: with hardly any message unconfirmed,
/// they may wait for each confirm.
fn hidden(case: &Case) -> Option<Candidate> {
    if !sight::hides_messages(case) {
        return None;
    }
    let channels = &case.clients.as_ref().ok()?.channels;
    let published = case.broker.as_ref().ok()?.rates.published?;
    let is_narrow = |row: &&ChannelCase| row.is_confirming && row.unconfirmed <= ONE_BY_ONE;
    let narrow = channels.iter().filter(is_narrow);
    let of_narrow: f64 = narrow.filter_map(|row| row.published_per_second).sum();
    (of_narrow >= OF_ALL * published).then(|| {
        let sentence = format!(
            "publishers have at most {ONE_BY_ONE} messages without a confirm, and no packet shows whether they wait for it"
        );
        let figure = format!("{of_narrow:.0} of {published:.0} messages a second");
        let share = of_narrow / published.max(1.0);
        let candidate = Candidate::new(LimitKind::Publishers, "", share, 1.0, sentence);
        candidate.with(Source::Node, figure).at_least(DOUBTFUL).at_most(DOUBTFUL)
    })
}

/// Judges publishers of which nothing shows that they wait.
fn perhaps(turns: &Turns) -> Option<Candidate> {
    let waiting = turns.publishers.iter().map(|one| one.messages).fold(0, u64::saturating_add);
    let messages = waiting.saturating_add(turns.perhaps);
    if turns.perhaps == 0
        || messages < MIN_MESSAGES
        || (messages as f64) < OF_ALL * turns.published as f64
    {
        return None;
    }
    let share = messages as f64 / turns.published.max(1) as f64;
    let sentence =
        "publishers have an answer to each message before the next one, and perhaps wait for it"
            .to_owned();
    let figure = format!("{messages} of {} messages", turns.published);
    let candidate = Candidate::new(LimitKind::Publishers, "", share, 1.0, sentence);
    Some(candidate.with(Source::Packets, figure).at_least(DOUBTFUL).at_most(DOUBTFUL))
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
    let is_hidden = turns.publishers.iter().any(|one| one.answer == Answer::Hidden);
    let unit = if is_hidden { "messages and records of TLS" } else { "messages" };
    let figure = format!(
        "{messages} of {} {unit}; waiting takes {} of the time between them",
        turns.published,
        percent(share),
    );
    let candidate = Candidate::new(LimitKind::Publishers, &*first.client, share, WAITING, sentence);
    Some(candidate.with(Source::Packets, figure).at_least(PERHAPS).at_most(PERHAPS))
}

fn what(publisher: &WaitingPublisher) -> String {
    match (publisher.answer, publisher.window) {
        (Answer::Hidden, _) => "record of TLS when one of the broker comes".to_owned(),
        (Answer::Reply, _) => "request when a reply comes".to_owned(),
        (Answer::Commit, _) => "messages when their transaction is committed".to_owned(),
        (Answer::Confirm, Some(window)) => {
            format!("message when a confirm comes (at most {window} without one)")
        }
        (Answer::Confirm, None) => "message when a confirm comes".to_owned(),
    }
}
