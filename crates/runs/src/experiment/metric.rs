//! The compared figures.

use std::fmt;

use super::Goal;
use crate::record::{ExpectedLatency, ExpectedRate, Metric, Quantile};

/// A figure of a run by which arms are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
const OTHERS: [(&str, RunMetric); 10] = [
    ("published.items", RunMetric::Items(Side::Published)),
    ("published.item-bytes", RunMetric::ItemBytes(Side::Published)),
    ("consumed.items", RunMetric::Items(Side::Consumed)),
    ("consumed.item-bytes", RunMetric::ItemBytes(Side::Consumed)),
    ("broker.cpu-per-message", RunMetric::BrokerCpu),
    ("broker.memory", RunMetric::BrokerMemory),
    ("client.cpu-per-message", RunMetric::ClientCpu),
    ("broker.cpu-per-item", RunMetric::BrokerCpuPerItem),
    ("client.cpu-per-item", RunMetric::ClientCpuPerItem),
    ("capacity.rate", RunMetric::Capacity),
];

impl RunMetric {
    /// Parses the name. The error lists the allowed names.
    pub fn parse(name: &str) -> Result<Self, String> {
        let found = OTHERS.iter().find(|(other, _)| *other == name).map(|(_, metric)| *metric);
        let found = found.or_else(|| {
            let (of, which) = name.split_once('.')?;
            Some(Self::Load(match which {
                "rate" => Metric::Rate(ExpectedRate::from_name(of)?),
                _ => Metric::Latency(ExpectedLatency::from_name(of)?, Quantile::from_name(which)?),
            }))
        });
        found.ok_or_else(|| {
            format!(
                "`{name}` is not a metric; allowed are {} with `.rate`, {} with `.` and {}, and {}",
                listed(ExpectedRate::NAMES),
                listed(ExpectedLatency::NAMES),
                listed(Quantile::NAMES),
                listed(&OTHERS.map(|(name, _)| name)),
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

    /// Returns the unit of the values, as named in `experiment.json`.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Load(Metric::Rate(_)) | Self::Capacity => "messages/s",
            Self::Items(_) => "items/s",
            Self::ItemBytes(_) => "bytes/s",
            Self::BrokerMemory => "bytes",
            _ => "nanoseconds",
        }
    }
}

impl fmt::Display for RunMetric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Self::Load(metric) = self {
            return metric.fmt(f);
        }
        let found = OTHERS.iter().find(|(_, metric)| metric == self);
        f.write_str(found.map_or("", |(name, _)| name))
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
        ] {
            assert_eq!(RunMetric::parse(name).unwrap().to_string(), name);
        }
        for name in ["", "consumed", "consumed.p99", "confirm.rate", "lost", "broker"] {
            assert!(RunMetric::parse(name).unwrap_err().contains("not a metric"), "{name}");
        }
    }
}
