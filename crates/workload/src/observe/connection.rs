//! A connection.

use core::net::SocketAddr;

use rabbitscope_wire::{activity::Ends, protocols::Protocol};
use rustc_hash::FxHashMap;

use super::{answers::Answers, channel::Channel, mqtt::Client, records::Records};

/// Maximum of channels that are followed.
const CHANNELS_MAX: usize = 4_096;

/// State of a connection.
#[derive(Debug)]
pub(super) struct Connection {
    /// Time of its first packet in nanoseconds; none if it began before the capture.
    pub(super) opened: Option<u64>,
    pub(super) client: SocketAddr,
    pub(super) product: String,
    /// The group in the scenario, if the client is this program.
    pub(super) group: Option<String>,
    pub(super) vhost: Option<String>,
    pub(super) answers: Answers,
    pub(super) is_readable: bool,
    /// The protocol of its frames; none without frames.
    pub(super) protocol: Option<Protocol>,
    /// The client, if its protocol is MQTT.
    pub(super) mqtt: Option<Client>,
    /// Records of TLS that the client sent.
    pub(super) records: Records,
    pub(super) published: u64,
    pub(super) delivered: u64,
    channels: FxHashMap<u16, Channel>,
}

impl Connection {
    pub(super) fn new(ends: &Ends) -> Self {
        Self {
            opened: ends.from_the_start.then(|| ends.time.unix_nanos()),
            client: ends.client,
            product: String::new(),
            group: None,
            vhost: None,
            answers: Answers::default(),
            is_readable: false,
            protocol: None,
            mqtt: None,
            records: Records::default(),
            published: 0,
            delivered: 0,
            channels: FxHashMap::default(),
        }
    }

    /// Returns a channel; none if there are too many.
    pub(super) fn channel(&mut self, number: u16) -> Option<&mut Channel> {
        if self.channels.len() >= CHANNELS_MAX && !self.channels.contains_key(&number) {
            return None;
        }
        Some(self.channels.entry(number).or_default())
    }

    pub(super) fn open_channel(&mut self, number: u16, nanos: u64) {
        if self.channel(number).is_some() {
            self.channels.insert(number, Channel::opened_at(nanos));
        }
    }

    /// Adds the channel of a publisher or a reader.
    pub(super) fn add_link(&mut self, number: u16, channel: Channel) {
        if self.channel(number).is_some() {
            self.channels.insert(number, channel);
        }
    }

    /// Removes a channel, and returns the time at which it was opened.
    pub(super) fn close_channel(&mut self, number: u16) -> Option<u64> {
        self.channels.remove(&number)?.opened
    }

    pub(super) fn channels(&mut self) -> impl Iterator<Item = &mut Channel> {
        self.channels.values_mut()
    }

    /// Returns whether nothing but heartbeats and set-up was seen.
    pub(super) fn is_idle(&self) -> bool {
        let has_readers =
            |channel: &Channel| !channel.consumers.is_empty() || !channel.polls.is_empty();
        // A run of this program declares its queues by a connection of no group.
        let is_control = self.product == "rabbitscope" && self.group.is_none();
        self.published + self.delivered + self.records.count == 0
            && !is_control
            && !self.channels.values().any(has_readers)
    }

    /// Returns the virtual host, `/` if it is unknown.
    pub(super) fn vhost(&self) -> &str {
        self.vhost.as_deref().unwrap_or("/")
    }
}
