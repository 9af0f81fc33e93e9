//! The compared figures.

use std::fmt;

use rabbitscope_text::{MetricId, Unit};
use serde::Deserialize;

use super::Goal;
use crate::record::{ExpectedGauge, ExpectedLatency, ExpectedRate, Metric, Quantile, Statistic};

/// A figure of a run by which arms are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum RunMetric {
    /// A rate or a latency, as in `[expect]`.
    Load(Metric),
    /// `broker.cpu-per-message`: CPU time of the broker for each message, nanoseconds.
    BrokerCpu,
    /// `broker.memory`: the largest resident memory of the broker, bytes.
    BrokerMemory,
    /// `client.cpu-per-message`: CPU time of the load generator for each message, nanoseconds.
    ClientCpu,
    /// `broker.cpu-per-item`: CPU time of the broker for each item; see [`RunMetric::Items`].
    BrokerCpuPerItem,
    /// `client.cpu-per-item`: CPU time of the load generator for each item.
    ClientCpuPerItem,
    /// `published.items`, `consumed.items`: items that applications send, per second; see `items-per-message`.
    Items(Side),
    /// `published.item-bytes`, `consumed.item-bytes`: bytes of these items per second, without compression.
    ItemBytes(Side),
    /// `capacity.rate`: the highest rate within limits, from a search in place of a run.
    Capacity,
}

/// The side whose messages count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Messages of publishers.
    Published,
    /// Messages of consumers.
    Consumed,
}

/// Metrics with names of their own.
#[rustfmt::skip]
const OTHERS: [(RunMetric, MetricId); 10] = [
    (RunMetric::Items(Side::Published), id("published.items", "published items", Unit::PerSecond)),
    (RunMetric::ItemBytes(Side::Published), id("published.item-bytes", "bytes of published items", Unit::BytesPerSecond)),
    (RunMetric::Items(Side::Consumed), id("consumed.items", "consumed items", Unit::PerSecond)),
    (RunMetric::ItemBytes(Side::Consumed), id("consumed.item-bytes", "bytes of consumed items", Unit::BytesPerSecond)),
    (RunMetric::BrokerCpu, id("broker.cpu-per-message", "CPU time of the broker per message", Unit::Nanos)),
    (RunMetric::BrokerMemory, id("broker.memory", "largest memory of the broker", Unit::Bytes)),
    (RunMetric::ClientCpu, id("client.cpu-per-message", "CPU time of the load per message", Unit::Nanos)),
    (RunMetric::BrokerCpuPerItem, id("broker.cpu-per-item", "CPU time of the broker per item", Unit::Nanos)),
    (RunMetric::ClientCpuPerItem, id("client.cpu-per-item", "CPU time of the load per item", Unit::Nanos)),
    (RunMetric::Capacity, id("capacity.rate", "highest rate within limits", Unit::PerSecond)),
];

const fn id(name: &'static str, title: &'static str, unit: Unit) -> MetricId {
    MetricId { name, title, unit }
}

/// Units that `experiment.json` names by the counted things.
const RATES: [(&str, Unit); 3] = [
    ("messages/s", Unit::PerSecond),
    ("items/s", Unit::PerSecond),
    ("bytes/s", Unit::BytesPerSecond),
];

/// Returns the unit with this name in `experiment.json`.
pub fn unit_from_name(name: &str) -> Option<Unit> {
    let rate = RATES.iter().find(|(known, _)| *known == name).map(|(_, unit)| *unit);
    rate.or_else(|| Unit::from_name(name))
}

impl RunMetric {
    /// Parses the name. The error lists the allowed names.
    pub fn parse(name: &str) -> Result<Self, String> {
        let found = OTHERS.iter().find(|(_, id)| id.name == name).map(|(metric, _)| *metric);
        let load = || Metric::from_name(name).filter(|metric| !is_of_whole_run(*metric));
        found.or_else(|| load().map(Self::Load)).ok_or_else(|| {
            format!(
                "`{name}` is not a metric; allowed are {} with `.rate`, {} with `.` and {}, {} with `.` and {}, and {}",
                listed(ExpectedRate::NAMES),
                listed(ExpectedLatency::NAMES),
                listed(Quantile::NAMES),
                listed(&ExpectedGauge::all().map(|gauge| gauge.id().name).collect::<Vec<_>>()),
                listed(Statistic::NAMES),
                listed(&OTHERS.map(|(_, id)| id.name)),
            )
        })
    }

    /// Returns the direction that is better.
    pub fn goal(self) -> Goal {
        match self {
            Self::Load(Metric::Rate(_)) | Self::Items(_) | Self::ItemBytes(_) | Self::Capacity => {
                Goal::Higher
            }
            _ => Goal::Lower,
        }
    }

    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Load(metric) => metric.name(),
            _ => self.own_id().map_or("", |id| id.name),
        }
    }

    /// Returns the name of the unit in `experiment.json`; see [`unit_from_name`].
    pub fn unit_name(self) -> &'static str {
        let unit = match self {
            Self::Load(metric) => metric.unit(),
            _ => self.own_id().map_or(Unit::Things, |id| id.unit),
        };
        let [messages, items, bytes] = RATES.map(|(name, _)| name);
        match (self, unit) {
            (Self::Items(_), _) => items,
            (_, Unit::PerSecond) => messages,
            (_, Unit::BytesPerSecond) => bytes,
            _ => unit.name(),
        }
    }

    fn own_id(self) -> Option<MetricId> {
        OTHERS.iter().find(|(metric, _)| *metric == self).map(|(_, id)| *id)
    }
}

/// Counts and times cover a whole run, with its warm-up, so arms are not compared by them.
fn is_of_whole_run(metric: Metric) -> bool {
    matches!(metric, Metric::Count(_) | Metric::Time(_))
}

impl TryFrom<String> for RunMetric {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        Self::parse(&name)
    }
}

impl fmt::Display for RunMetric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

fn listed(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_there_and_back() {
        for name in [
            "consumed.rate",
            "confirm-intended.p99",
            "broker.cpu-per-message",
            "broker.memory",
            "client.cpu-per-message",
            "published.items",
            "consumed.item-bytes",
            "capacity.rate",
            "broker.memory.max",
            "node.run-queue.mean",
        ] {
            let metric = RunMetric::parse(name).unwrap();
            assert_eq!(metric.to_string(), name);
            assert!(unit_from_name(metric.unit_name()).is_some(), "{name}");
        }
        for name in ["", "consumed", "consumed.p99", "confirm.rate", "lost", "broker"] {
            assert!(RunMetric::parse(name).unwrap_err().contains("not a metric"), "{name}");
        }
    }
}
