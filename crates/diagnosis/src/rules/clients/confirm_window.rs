//! Publishers that wait for confirms because their windows are small.

use crate::{
    case::{Answer, Case, Turns, WaitingPublisher},
    finding::{Evidence, Severity},
    rules::{
        bound,
        config::UNCONFIRMED,
        draft::{Advice, Aim, Draft},
        look::{self, Look},
        names,
        rule::{Judged, Minimum, Need, NotJudged, Rule},
    },
};

/// Unconfirmed messages up to which a window is small.
const SMALL: u32 = 10;
/// Unconfirmed messages of the advice.
const ADVISED: u64 = 100;
/// Messages of a publisher below which it is not judged.
const MESSAGES: u64 = 100;
/// Share of a publisher's time in which it waits.
const WAITING: f64 = 0.5;
/// Messages per second of all such publishers from which waiting costs throughput.
const COSTLY_RATE: f64 = 100.0;

pub(crate) const RULE: Rule = Rule {
    name: "confirm-window",
    title: "publishers' windows",
    meaning: "a publisher waits for confirms most of the time, because few of its messages may be unconfirmed",
    needs: &[Need::Clients],
    minimum: Minimum {
        seconds: 5,
        counts: "packets; 100 messages of a publisher; statistics, or its connection from the start",
    },
    threshold: "at most 10 unconfirmed messages, and half of its time spent waiting: note; warning from 100 messages a second",
    change: "a hundred unconfirmed messages",
    source: "RabbitMQ documentation, publishers: confirms one by one, in batches, and while publishing; the thresholds are proposals",
    find,
};

fn find(case: &Case) -> Judged {
    let Some(turns) = &case.turns else {
        return Err(NotJudged::new("packets show no messages"));
    };
    if turns.published < MESSAGES {
        return Err(NotJudged::new(format!("it takes {MESSAGES} published messages")));
    }
    let small: Vec<(&WaitingPublisher, u32)> =
        turns.publishers.iter().filter_map(|one| Some((one, small_window(one)?))).collect();
    let Some(&(worst, window)) = small.first() else {
        let is_hidden = turns.publishers.iter().any(|one| one.answer == Answer::Hidden);
        let reason = "TLS hides how many messages are unconfirmed";
        return if is_hidden { Err(NotJudged::new(reason)) } else { Ok(Vec::new()) };
    };
    Ok(vec![draft(case, turns, &small, (worst, window))])
}

/// Returns the window of a publisher that waits because of it.
fn small_window(publisher: &WaitingPublisher) -> Option<u32> {
    let waits = publisher.answer == Answer::Confirm
        && publisher.messages >= MESSAGES
        && publisher.waiting >= WAITING;
    publisher.window.filter(|window| waits && (1..=SMALL).contains(window))
}

fn draft(
    case: &Case,
    turns: &Turns,
    small: &[(&WaitingPublisher, u32)],
    (worst, window): (&WaitingPublisher, u32),
) -> Draft {
    let messages = small.iter().map(|(one, _)| one.messages).fold(0, u64::saturating_add);
    let rate = turns.rate(messages);
    let severity = if rate >= COSTLY_RATE { Severity::Warning } else { Severity::Note };
    let allowed = match window {
        1 => "each message".to_owned(),
        window => format!("one of {window} messages"),
    };
    let sentence =
        format!("{} waits for the confirm of {allowed} before the next one", name(case, worst));
    let advice = Advice::new(
        Aim::Raise,
        UNCONFIRMED,
        format!("let {ADVISED} messages be unconfirmed, and process confirms as they come"),
        "after a lost connection, as many messages are to be published again",
    );
    let most = small.iter().map(|(_, window)| u64::from(*window)).min().unwrap_or(1);
    let reason =
        format!("{ADVISED} unconfirmed messages in place of {most}, each confirmed as late as now");
    let subjects = small.iter().map(|(one, _)| name(case, one)).collect();
    Draft::new(severity, subjects, sentence)
        .all_evidence(small.iter().take(3).map(|(one, window)| evidence(case, turns, one, *window)))
        .advice(advice)
        .bound(bound::multiplication(most, ADVISED, reason))
}

fn evidence(case: &Case, turns: &Turns, one: &WaitingPublisher, window: u32) -> Evidence {
    let rate = look::rate(turns.rate(one.messages), "messages");
    Look::packets(turns.seconds).says(format!(
        "{}: {rate}, at most {window} unconfirmed; it waits {} of its time",
        name(case, one),
        look::percent(one.waiting),
    ))
}

/// Returns the client's own name, or its address.
fn name(case: &Case, publisher: &WaitingPublisher) -> String {
    let channels = case.clients.as_ref().map_or(&[][..], |clients| &clients.channels);
    let is_its =
        |name: &str| name.split_once(" -> ").is_some_and(|(from, _)| from == publisher.client);
    let channel = channels.iter().find(|channel| is_its(&channel.name));
    channel.map_or_else(|| publisher.client.clone(), names::channel)
}
