//! Connections and channels by client: the client's own name, or the user of clients without one.

use std::collections::BTreeMap;

use rabbitscope_text::{MetricId, Unit};
use serde::{Deserialize, Serialize};

use super::bounds::finite;
use crate::case::{Case, ChannelCase, Clients};

/// The connections and channels of a client.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct ClientFigure {
    /// The client's own name; empty if it gave none.
    pub name: String,
    /// User of connections without a name; empty for a named client.
    pub user: String,
    /// Number of connections.
    pub connections: u64,
    /// Number of channels.
    pub channels: u64,
    /// Number of consumers.
    pub consumers: u64,
    /// Unacknowledged messages.
    pub unacknowledged: u64,
    /// Published messages per second. Absent without statistics, like the rates below.
    pub published: Option<f64>,
    /// Delivered messages per second.
    pub delivered: Option<f64>,
    /// Acknowledged messages per second.
    pub acknowledged: Option<f64>,
    /// Messages got per second.
    pub got: Option<f64>,
    /// Answers of empty queues to `basic.get` per second.
    pub empty_gets: Option<f64>,
}

/// A rate of a client.
#[derive(Clone, Copy, Debug)]
pub struct ClientRate {
    /// Name, title and unit.
    pub id: MetricId,
    /// Reads the rate.
    pub value: fn(&ClientFigure) -> Option<f64>,
}

const fn rate(
    name: &'static str,
    title: &'static str,
    value: fn(&ClientFigure) -> Option<f64>,
) -> ClientRate {
    ClientRate { id: MetricId { name, title, unit: Unit::PerSecond }, value }
}

impl ClientFigure {
    /// All rates, in the order of lists. Names are those of the node's rates.
    pub const RATES: [ClientRate; 5] = [
        rate("published.rate", "publishes", |client| client.published),
        rate("delivered.rate", "is delivered", |client| client.delivered),
        rate("acknowledged.rate", "acknowledges", |client| client.acknowledged),
        rate("got.rate", "gets", |client| client.got),
        rate("empty-gets.rate", "asks empty queues", |client| client.empty_gets),
    ];

    /// Returns the client in words.
    pub fn title(&self) -> String {
        if self.name.is_empty() {
            format!("clients of user {}", self.user)
        } else {
            format!("client {}", self.name)
        }
    }

    /// Returns its messages and questions per second.
    pub fn activity(&self) -> f64 {
        Self::RATES.iter().filter_map(|rate| (rate.value)(self)).map(finite).sum()
    }

    fn add(&mut self, channel: &ChannelCase) {
        self.channels += 1;
        self.consumers = self.consumers.saturating_add(channel.consumers);
        self.unacknowledged = self.unacknowledged.saturating_add(channel.unacknowledged);
        add(&mut self.published, channel.published_per_second);
        add(&mut self.delivered, channel.delivered_per_second);
        add(&mut self.acknowledged, channel.acknowledged_per_second);
        add(&mut self.got, channel.got_per_second);
        add(&mut self.empty_gets, channel.get_empty_per_second);
    }
}

fn add(sum: &mut Option<f64>, rate: Option<f64>) {
    if let Some(rate) = rate {
        *sum = Some(finite(sum.unwrap_or_default() + finite(rate)));
    }
}

/// Returns the clients, the most active first.
pub(super) fn by_client(clients: &Clients) -> Vec<ClientFigure> {
    let mut found: BTreeMap<(String, String), ClientFigure> = BTreeMap::new();
    for connection in &clients.connections {
        client(&mut found, &connection.client, &connection.user).connections += 1;
    }
    for channel in &clients.channels {
        client(&mut found, &channel.client, &channel.user).add(channel);
    }
    let mut rows: Vec<ClientFigure> = found.into_values().collect();
    // The sort is stable: equal ones stay in the order of their names.
    rows.sort_by(|one, other| {
        let by_activity = other.activity().total_cmp(&one.activity());
        by_activity.then(other.unacknowledged.cmp(&one.unacknowledged))
    });
    rows
}

fn client<'a>(
    found: &'a mut BTreeMap<(String, String), ClientFigure>,
    name: &str,
    user: &str,
) -> &'a mut ClientFigure {
    let user = if name.is_empty() { user } else { "" };
    let key = (name.to_owned(), user.to_owned());
    let (name, user) = key.clone();
    found.entry(key).or_insert_with(|| ClientFigure { name, user, ..ClientFigure::default() })
}

/// Returns true if no connection or channel of the node is missing among the rows.
pub(super) fn are_complete(case: &Case) -> bool {
    let (Ok(broker), Ok(clients)) = (&case.broker, &case.clients) else { return false };
    let all = |count: Option<u64>, rows: usize| count.is_some_and(|count| count <= rows as u64);
    all(broker.connections, clients.connections.len())
        && all(broker.channels, clients.channels.len())
}
