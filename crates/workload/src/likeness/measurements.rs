//! Figures of each group by blocks of time, as the file beside a scenario keeps them. No names but those of groups.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::profile::ProfileShares;
use crate::{
    groups::{Arrival, Model, PublisherGroup, ReaderGroup, Window},
    observe::{Flows, Prefetch, PublishBlock, ReadBlock},
    topology::NodeFacts,
};

/// Version of the file's form.
const FORMAT_VERSION: u32 = 1;

/// Maximum of keys whose messages are kept.
const KEYS_MAX: usize = 64;

/// A file that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum MeasurementsError {
    /// The text has another form.
    #[error("it holds no measurements of a load: {0}")]
    Form(String),
    /// A later version wrote it.
    #[error(
        "its format-version is {0}, and this program knows {FORMAT_VERSION} and earlier: write it again"
    )]
    Version(u32),
}

/// The measured load of a source or of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Measurements {
    pub(super) format_version: u32,
    /// The observed time.
    pub(super) seconds: f64,
    /// Length of a block. The last one may be shorter.
    pub(super) block_seconds: f64,
    /// Messages published and delivered.
    pub(super) messages: u64,
    /// Packets of both directions, if they were counted.
    pub(super) packets: Option<u64>,
    /// CPU time of the broker's node in each second; empty if it is unknown.
    #[serde(default)]
    pub(super) cpu_seconds: Vec<f64>,
    /// Ready messages of all queues at each second; empty if they are unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) ready: Vec<u64>,
    pub(super) groups: BTreeMap<String, Group>,
    /// The broker's node; absent if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) node: Option<NodeFacts>,
    /// The CPU profile of the broker's node; absent if it was not recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) profile: Option<ProfileShares>,
}

/// Figures of a group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Group {
    Publishers(Publishing),
    Readers(Reading),
}

/// Figures of publishers or callers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Publishing {
    pub(super) members: usize,
    pub(super) messages: u64,
    /// Messages a second of the group.
    pub(super) rate: f64,
    /// True if answers drive the publishers.
    pub(super) is_closed: bool,
    /// True if the arrivals are bursts with a period.
    pub(super) has_bursts: bool,
    /// Limit of unconfirmed messages, if it was reached.
    pub(super) window: Option<u32>,
    /// Exact sizes with their messages; absent if there are too many.
    pub(super) sizes: Option<BTreeMap<u64, u64>>,
    /// Messages to the most frequent queues or routing keys, by rank.
    #[serde(default)]
    pub(super) keys: BTreeMap<u64, u64>,
    /// Messages by delivery mode, priority and time to live; empty if they are unknown, or too many.
    #[serde(default)]
    pub(super) properties: BTreeMap<String, u64>,
    pub(super) blocks: Vec<PublishBlock>,
}

/// Figures of consumers, of programs that poll, or of responders.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Reading {
    pub(super) members: usize,
    pub(super) messages: u64,
    /// Messages a second of the group.
    pub(super) rate: f64,
    /// Limit of unsettled messages of a consumer or a channel; 0 for none, absent if it is unknown.
    pub(super) prefetch: Option<u16>,
    /// Messages that one acknowledgement settles: the most frequent number.
    pub(super) batch: Option<u64>,
    /// Shares of acknowledged, requeued and dropped messages among the settled ones.
    pub(super) settled: [f64; 3],
    /// True for relays, and the share of the settled messages right before which one was published.
    #[serde(default)]
    pub(super) is_relay: bool,
    #[serde(default)]
    pub(super) followed: f64,
    pub(super) is_polling: bool,
    pub(super) blocks: Vec<ReadBlock>,
}

impl Measurements {
    /// Takes the figures of all groups of a model.
    pub fn from_model(model: &Model, flows: &Flows) -> Self {
        let publishers = model
            .publishers
            .iter()
            .map(|group| (group.name.clone(), Group::Publishers(Publishing::from_group(group))));
        let responders = model.responders.iter().map(|responders| &responders.reader);
        let readers = model.readers.iter().chain(responders);
        let readers =
            readers.map(|group| (group.name.clone(), Group::Readers(Reading::from_group(group))));
        let groups = publishers.chain(readers).collect();
        Self { groups, node: model.node.clone(), ..Self::of_flows(flows) }
    }

    /// Returns the measurements of the load as a whole.
    pub(super) fn of_flows(flows: &Flows) -> Self {
        let (published, delivered) = flows.messages();
        Self {
            format_version: FORMAT_VERSION,
            seconds: flows.seconds(),
            block_seconds: flows.clock.length as f64 / 1e9,
            messages: published + delivered,
            ..Self::default()
        }
    }

    /// Adds figures that other sources than the flows have: packets, and CPU time of the broker's node in each second.
    pub fn add_costs(&mut self, packets: Option<u64>, cpu_seconds: Vec<f64>) {
        (self.packets, self.cpu_seconds) = (packets, cpu_seconds);
    }

    /// Adds the ready messages of all queues at each second; none if they are unknown.
    pub fn add_depths(&mut self, ready: Vec<u64>) {
        self.ready = ready;
    }

    /// Adds the broker's node.
    pub fn add_node(&mut self, node: Option<NodeFacts>) {
        self.node = node;
    }

    /// Adds the CPU profile of the broker's node.
    pub fn add_profile(&mut self, profile: Option<ProfileShares>) {
        self.profile = profile;
    }

    /// Returns whether the CPU profile of the broker's node is known.
    pub const fn has_profile(&self) -> bool {
        self.profile.is_some()
    }

    /// Returns the observed time in seconds.
    pub const fn seconds(&self) -> f64 {
        self.seconds
    }

    /// Returns the text of the file.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads the text of a file.
    pub fn from_json(text: &str) -> Result<Self, MeasurementsError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "kebab-case")]
        struct Head {
            format_version: u32,
        }
        let form = |error: serde_json::Error| MeasurementsError::Form(error.to_string());
        let Head { format_version } = serde_json::from_str(text).map_err(form)?;
        if format_version > FORMAT_VERSION {
            return Err(MeasurementsError::Version(format_version));
        }
        serde_json::from_str(text).map_err(form)
    }
}

impl Publishing {
    pub(super) fn from_group(group: &PublisherGroup) -> Self {
        let rate = match group.arrival {
            Arrival::Bursts { messages, period } => f64::from(messages) / period,
            _ => group.rate,
        };
        Self {
            members: group.count,
            messages: group.messages,
            rate: rate * group.count as f64,
            is_closed: group.looped.is_closed,
            has_bursts: matches!(group.arrival, Arrival::Bursts { .. }),
            window: match group.window {
                Window::Limit(window) => Some(window),
                _ => None,
            },
            sizes: group.exact_sizes.clone(),
            keys: keys(group),
            properties: properties(group),
            blocks: group.blocks.clone(),
        }
    }
}

/// Returns the messages to the most frequent keys, by rank.
fn keys(group: &PublisherGroup) -> BTreeMap<u64, u64> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive")]
    let messages = |share: f64| (share * group.messages as f64).round() as u64;
    let shares = group.keys.shares.iter().take(KEYS_MAX).map(|(_, share)| messages(*share));
    (1..).zip(shares).collect()
}

/// Returns the messages by delivery mode, priority and time to live.
fn properties(group: &PublisherGroup) -> BTreeMap<String, u64> {
    let kinds = group.kinds.plain().unwrap_or_default().into_iter();
    kinds.map(|(kind, messages)| (kind.to_string(), messages)).collect()
}

impl Reading {
    pub(super) fn from_group(group: &ReaderGroup) -> Self {
        Self {
            members: group.count,
            messages: group.deliveries,
            rate: group.rate * group.count as f64,
            prefetch: match group.settings.prefetch {
                Prefetch::Consumer(count) | Prefetch::Channel(count) => Some(count),
                Prefetch::Unlimited => Some(0),
                Prefetch::Unknown => None,
            },
            batch: group.batch.map(|(messages, ..)| messages),
            settled: group.settled_shares,
            is_relay: group.settings.forward.is_some(),
            followed: group.followed_share,
            is_polling: group.settings.is_polling,
            blocks: group.blocks.clone(),
        }
    }
}
