//! Clients that poll with `basic.get`.

use crate::{
    case::{Case, ChannelCase},
    finding::{Evidence, Severity},
    rules::{
        bound,
        config::CONSUME,
        draft::{Advice, Aim, Draft},
        look::{self, Look},
        names,
        rule::{Judged, Minimum, Need, NotJudged, Rule},
    },
};

/// Share of all deliveries.
const SHARE: f64 = 0.1;
/// Fewest gets in the time.
const GETS: f64 = 20.0;
/// Gets per second from which they cost a notable part of a core.
const COSTLY_RATE: f64 = 500.0;
/// Cores of the polling channels that are worth a warning.
const COSTLY_CORES: f64 = 0.1;

pub(crate) const RULE: Rule = Rule {
    name: "polling",
    title: "polling of queues",
    meaning: "clients ask for single messages with `basic.get`: each is a round trip, often of an empty queue",
    needs: &[Need::Broker, Need::Clients],
    minimum: Minimum { seconds: 5, counts: "20 gets" },
    threshold: "10 % of the deliveries, or more empty gets than messages: note; warning from 500 gets a second or 0.1 cores",
    change: "`basic.consume`",
    source: "RabbitMQ documentation, consumers: fetching individual messages",
    find,
};

fn find(case: &Case) -> Judged {
    let (broker, clients) = (case.broker.as_ref()?, case.clients.as_ref()?);
    let rates = broker.rates;
    if rates.got.is_none() && rates.get_empty.is_none() {
        return Err(NotJudged::new("the node does not count gets"));
    }
    let (got, empty) = (rates.got.unwrap_or(0.0), rates.get_empty.unwrap_or(0.0));
    let gets = got + empty;
    let is_much = gets >= SHARE * rates.delivered.unwrap_or(0.0).max(got) || empty >= got;
    if !(gets * case.subject.duration.as_secs_f64() >= GETS && is_much) {
        return Ok(Vec::new());
    }
    let mut pollers: Vec<&ChannelCase> =
        clients.channels.iter().filter(|channel| gets_of(channel) > 0.0).collect();
    pollers.sort_by(|one, other| gets_of(other).total_cmp(&gets_of(one)));
    Ok(vec![draft(case, &pollers, got, empty)])
}

fn gets_of(channel: &ChannelCase) -> f64 {
    channel.got_per_second.unwrap_or(0.0) + channel.get_empty_per_second.unwrap_or(0.0)
}

fn draft(case: &Case, pollers: &[&ChannelCase], got: f64, empty: f64) -> Draft {
    let (cores, used) = used(case, pollers);
    let is_costly = got + empty >= COSTLY_RATE || cores >= COSTLY_CORES;
    let severity = if is_costly { Severity::Warning } else { Severity::Note };
    let share = look::percent(empty / (got + empty));
    let who = pollers.first().map_or_else(|| "a client".to_owned(), |worst| names::channel(worst));
    let sentence = format!("{who} polls with basic.get; {share} of all gets find no message");
    let advice = Advice::new(
        Aim::Settle,
        CONSUME,
        "consume (basic.consume with a prefetch) instead of polling with basic.get",
        "a change of the client",
    );
    let look = Look::node(case);
    let figure =
        format!("{}, {}", look::rate(got, "messages got"), look::rate(empty, "empty gets"));
    let of_clients = pollers.iter().take(3).map(|channel| {
        let gets = look::rate(gets_of(channel), "gets");
        let empty = look::rate(channel.get_empty_per_second.unwrap_or(0.0), "empty ones");
        look.says(format!("{}: {gets}, {empty}", names::channel(channel)))
    });
    let subjects = pollers.iter().map(|channel| names::channel(channel)).collect();
    Draft::new(severity, subjects, sentence)
        .evidence(look.says(figure))
        .all_evidence(of_clients)
        .all_evidence(used)
        .advice(advice)
        .bound(bound::messages_only(case, pollers, false))
}

/// Returns the CPU time of the polling channels.
fn used(case: &Case, pollers: &[&ChannelCase]) -> (f64, Option<Evidence>) {
    let Ok(cpu) = &case.cpu else { return (0.0, None) };
    let own = pollers.iter().filter_map(|channel| bound::process(cpu, &channel.pid));
    let cores: f64 = own.map(|process| process.cores).sum();
    let figure = format!("their channels use {}", look::cores(cores));
    (cores, (cores > 0.0).then(|| Look::cpu(cpu).says(figure)))
}
