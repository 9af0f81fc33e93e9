//! What the check of every delivery found.

use serde::{Deserialize, Serialize};

/// `run.verify`: what became of every message. What is not certain is not guessed but counted as not
/// judged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct Verification {
    /// Messages of each publisher that are remembered; older ones are known by their number only.
    pub window: u64,
    /// Messages that the broker accepted: confirmed, committed, or, without confirms, before a request on the same
    /// channel that it answered; and those that were delivered. In files of older versions also messages without
    /// confirms that were only written.
    pub accepted: u64,
    /// Of those, the ones that reached no consumer (with several queues: counted for each queue that
    /// missed one) and are not in a queue any more. More may be among those not judged.
    pub lost: u64,
    /// Of the accepted, those that reached no consumer but may still be in a queue.
    pub still_queued: u64,
    /// Messages of which it cannot be told whether they are lost.
    pub not_judged: u64,
    /// Messages that were sent and not delivered, and of which the broker did not say that it accepted them: they are
    /// among those not judged (once for each queue), and not among the accepted.
    pub unanswered: u64,
    /// Deliveries of a message that had been delivered before, not marked as redelivered.
    pub duplicates: u64,
    /// Of those, deliveries of messages that a publisher had sent again after a lost connection.
    pub duplicates_of_republished: u64,
    /// Deliveries to a consumer that had got a later message of the same publisher before.
    pub out_of_order: u64,
    /// Of those, the ones that were marked as redelivered.
    pub out_of_order_redelivered: u64,
    /// Messages of a stream that were read again after a consumer had lost its connection.
    pub read_again: u64,
    /// Deliveries older than the window, which were not checked for duplicates.
    pub unchecked_deliveries: u64,
    /// All of that in a sentence.
    pub sentence: String,
}
