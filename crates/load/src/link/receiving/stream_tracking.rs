//! The name under which a subscription stores its place in a stream, and its turns as a single active consumer.

use rabbitscope_runs::scenario::ConsumerGroup;
use rabbitscope_streams::Connection;

/// The stored place of a subscription.
#[derive(Debug)]
pub(super) struct StreamTracking {
    name: String,
    /// Messages from one stored offset to the next.
    every: u32,
    is_single: bool,
    super_stream: Option<String>,
    /// Offset of the last message that was processed and is not stored, and number of these messages.
    unstored: Option<(u64, u32)>,
    /// Number of the question for the stored offset, while it has no answer.
    asked: Option<u32>,
    /// Number of the broker's question to which the answer leads; absent for a subscription that is no single active
    /// consumer.
    update: Option<u32>,
}

impl StreamTracking {
    /// Returns the tracking of a group; `None` without a name.
    pub(super) fn from_group(group: &ConsumerGroup) -> Option<Self> {
        Some(Self {
            name: group.consumer_name.clone()?,
            every: group.store_every.unwrap_or(1),
            is_single: group.single_active_consumer,
            super_stream: group.super_stream.clone(),
            unstored: None,
            asked: None,
            update: None,
        })
    }

    /// Returns whether the broker says when the subscription reads.
    pub(super) fn is_single(&self) -> bool {
        self.is_single
    }

    /// Returns the properties of the subscription.
    pub(super) fn properties(&self) -> Vec<(String, String)> {
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let mut properties = vec![pair("name", &self.name)];
        if self.is_single {
            properties.push(pair("single-active-consumer", "true"));
        }
        properties.extend(self.super_stream.iter().map(|name| pair("super-stream", name)));
        properties
    }

    /// Asks for the stored offset, to answer `update` with it.
    pub(super) fn ask(&mut self, update: Option<u32>, stream: &str, connection: &mut Connection) {
        self.asked = Some(connection.ask_for_offset(&self.name, stream));
        self.update = update;
    }

    /// Returns whether the answer with this number is that for the stored offset.
    pub(super) fn awaits(&self, correlation: u32) -> bool {
        self.asked == Some(correlation)
    }

    /// Notes the answer. Returns the question of the broker to which it leads.
    pub(super) fn answered(&mut self) -> Option<u32> {
        self.asked = None;
        self.update.take()
    }

    /// Notes `count` processed messages up to an offset, and stores it if enough of them are not.
    #[inline]
    pub(super) fn processed(
        &mut self,
        offset: u64,
        count: u32,
        stream: &str,
        connection: &mut Connection,
    ) {
        let before = self.unstored.map_or(0, |(_, before)| before);
        self.unstored = Some((offset, before.saturating_add(count)));
        if before.saturating_add(count) >= self.every {
            self.store(stream, connection);
        }
    }

    /// Stores the offset of the last message that was processed.
    pub(super) fn store(&mut self, stream: &str, connection: &mut Connection) {
        if let Some((offset, _)) = self.unstored.take() {
            connection.store_offset(&self.name, stream, offset);
        }
    }

    /// Forgets all of the lost connection. A single active consumer resumes at the stored offset, as the one does that takes
    /// over.
    pub(super) fn on_disconnect(&mut self) {
        (self.unstored, self.asked, self.update) = (None, None, None);
    }
}
