//! The result of the check of every delivery.

use serde::{Deserialize, Serialize};

/// `run.verify`: the fate of every message. Uncertain messages are counted as not judged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct Verification {
    /// Number of messages that are remembered per publisher; older ones are known by their number only.
    pub window: u64,
    /// Messages that the broker accepted, and messages that were delivered. Accepted means confirmed, committed, or,
    /// without confirms, sent before a request on the same channel that the broker answered. In files of older versions
    /// also messages without confirms that were only written.
    pub accepted: u64,
    /// Accepted messages that reached no consumer and are not in a queue any more. With several queues, each queue that
    /// missed a message counts. There may be more among the messages not judged.
    pub lost: u64,
    /// Accepted messages that reached no consumer but may still be in a queue.
    pub still_queued: u64,
    /// Messages whose loss is uncertain.
    pub not_judged: u64,
    /// Messages that were sent but neither delivered nor accepted by the broker. They are among the messages not judged
    /// (once for each queue), and not among the accepted ones.
    pub unanswered: u64,
    /// Deliveries of a message that had been delivered before, not marked as redelivered.
    pub duplicates: u64,
    /// Duplicates of messages that a publisher had sent again after a lost connection.
    pub duplicates_of_republished: u64,
    /// Deliveries to a consumer that had already received a later message of the same publisher.
    pub out_of_order: u64,
    /// Deliveries out of order that were marked as redelivered.
    pub out_of_order_redelivered: u64,
    /// Messages of a stream that were read again after a consumer had lost its connection.
    pub read_again: u64,
    /// Deliveries older than the window, which were not checked for duplicates.
    pub unchecked_deliveries: u64,
    /// The result in a sentence.
    pub sentence: String,
}
