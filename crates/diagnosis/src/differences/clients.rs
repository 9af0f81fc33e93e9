//! Clients that came, went or changed.

use rabbitscope_text::{MetricId, Unit, counted};

use super::{
    model::{Difference, DifferenceKind, Noise, Pair, relative},
    noise::{Judge, by_threshold},
    single::Compared,
};
use crate::figures::{ClientFigure, ClientRate, Figures, Variation};

/// Importance of clients in the ranking.
const WEIGHT: f64 = 0.5;

/// Part of the node's traffic that a client counts for at least.
const LEAST_PART: f64 = 0.2;

/// The same for counts, which have no part of the traffic.
const COUNT_PART: f64 = 0.5;

/// A number of things of a client.
struct ClientCount {
    id: MetricId,
    variation: Variation,
    least: f64,
    value: fn(&ClientFigure) -> u64,
}

const fn count(
    (name, title): (&'static str, &'static str),
    variation: Variation,
    least: f64,
    value: fn(&ClientFigure) -> u64,
) -> ClientCount {
    ClientCount { id: MetricId { name, title, unit: Unit::Things }, variation, least, value }
}

const COUNTS: [ClientCount; 4] = [
    count(("connections", "connections"), Variation::Level, 2.0, |client| client.connections),
    count(("channels", "channels"), Variation::Level, 2.0, |client| client.channels),
    count(("consumers", "consumers"), Variation::Level, 2.0, |client| client.consumers),
    count(("unacknowledged", "unacknowledged messages"), Variation::Momentary, 100.0, |client| {
        client.unacknowledged
    }),
];

/// Returns the number of figures of clients that are compared.
pub(super) fn common(compared: Compared<'_>) -> usize {
    let each = ClientFigure::RATES.len() + COUNTS.len();
    pairs(compared).len() * each
}

/// Returns the clients that came or went, and the figures of others that differ.
pub(super) fn differences(compared: Compared<'_>, judge: Judge) -> Vec<Difference> {
    let mut found = came_or_went(compared);
    for pair in pairs(compared) {
        found.extend(
            ClientFigure::RATES.iter().filter_map(|rate| of_rate(compared, judge, rate, pair)),
        );
        found.extend(COUNTS.iter().filter_map(|count| of_count(count, pair)));
    }
    found
}

/// Returns the clients of both checks.
fn pairs(compared: Compared<'_>) -> Vec<[&ClientFigure; 2]> {
    let [before, after] = compared.figures;
    before.clients.iter().filter_map(|client| Some([client, same(after, client)?])).collect()
}

fn same<'a>(figures: &'a Figures, client: &ClientFigure) -> Option<&'a ClientFigure> {
    figures.clients.iter().find(|other| other.name == client.name && other.user == client.user)
}

/// A missing row says something only if the other check has a row for every client.
fn came_or_went(compared: Compared<'_>) -> Vec<Difference> {
    let [before, after] = compared.figures;
    let missing_in = |there: &Figures, here: &Figures| -> Vec<ClientFigure> {
        let is_missing =
            |client: &&ClientFigure| there.has_all_clients && same(there, client).is_none();
        here.clients.iter().filter(is_missing).cloned().collect()
    };
    let came = missing_in(before, after).into_iter().map(|client| presence(after, &client, true));
    let went = missing_in(after, before).into_iter().map(|client| presence(before, &client, false));
    came.chain(went).collect()
}

fn presence(figures: &Figures, client: &ClientFigure, came: bool) -> Difference {
    let connections = client.connections as f64;
    let values = if came { [0.0, connections] } else { [connections, 0.0] };
    let pair = Pair { values, noise: Noise::Unknown, threshold: 0.0 };
    let size = WEIGHT * part_of_traffic(figures, client);
    let title = client.title();
    let difference =
        Difference::new((DifferenceKind::Client, title.clone(), ""), COUNTS[0].id, pair, size);
    let verb = if came { "came" } else { "is gone" };
    let had = if came { "it has" } else { "it had" };
    let connections = counted(client.connections, "connection");
    let channels = counted(client.channels, "channel");
    let rates = ClientFigure::RATES.iter().filter_map(|rate| {
        let value = (rate.value)(client).filter(|value| *value >= 0.5)?;
        Some(format!(", {} {}", rate.id.title, rate.id.unit.display(value)))
    });
    let rates: String = rates.collect();
    Difference {
        sentence: format!("{title} {verb}: {had} {connections} with {channels}{rates}"),
        ..difference
    }
}

fn of_rate(
    compared: Compared<'_>,
    judge: Judge,
    rate: &ClientRate,
    clients: [&ClientFigure; 2],
) -> Option<Difference> {
    let values = [(rate.value)(clients[0])?, (rate.value)(clients[1])?];
    let threshold = Variation::Events.threshold();
    let pair = judge.counted(values, compared.seconds, threshold, 1.0)?;
    let pair = Pair { noise: Noise::Unknown, ..pair };
    let side = usize::from(values[1] > values[0]);
    let part = part_of_traffic(compared.figures[side], clients[side]);
    Some(changed(clients[1], rate.id, pair, part))
}

fn of_count(count: &ClientCount, clients: [&ClientFigure; 2]) -> Option<Difference> {
    let values = clients.map(|client| (count.value)(client) as f64);
    let pair = by_threshold(values, count.variation.threshold(), count.least)?;
    Some(changed(clients[1], count.id, pair, COUNT_PART))
}

fn changed(client: &ClientFigure, id: MetricId, pair: Pair, part: f64) -> Difference {
    let size = WEIGHT * part * relative(pair.values);
    let title = format!("{}, {}", client.title(), id.title);
    Difference::new((DifferenceKind::Client, client.title(), &title), id, pair, size)
}

/// Returns the client's part of the listed traffic, at least [`LEAST_PART`].
fn part_of_traffic(figures: &Figures, client: &ClientFigure) -> f64 {
    let all: f64 = figures.clients.iter().map(ClientFigure::activity).sum();
    let part = if all > 0.0 { client.activity() / all } else { 0.0 };
    if part.is_finite() { part.clamp(LEAST_PART, 1.0) } else { LEAST_PART }
}
