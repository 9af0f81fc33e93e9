//! Replies: publishes to a queue that requests name in `reply-to`.
//!
//! Programs also set `reply-to` where nobody answers, such as Celery without a store of results. So a publisher makes
//! requests only if it asks for direct replies, or if messages go to the queue that it names.

use rabbitscope_wire::protocols::hash;
use rustc_hash::FxHashSet;

use super::{flows::Flows, publishing::PublishFlow};

/// RabbitMQ's queue for direct replies. The broker adds a token to it.
const DIRECT_REPLY_TO: &str = "amq.rabbitmq.reply-to";
/// Beginning of names that the broker chooses.
const CHOSEN_BY_BROKER: &str = "amq.gen-";

/// Finds requests, replies and their readers, by the names as they were sent.
pub(super) fn find(flows: &mut Flows) {
    let asked: FxHashSet<u64> = flows.publishes.iter().flat_map(asked_queues).collect();
    let mut answered = FxHashSet::default();
    for flow in flows.publishes.iter_mut().filter(|flow| flow.key.exchange.is_empty()) {
        let mut replies = 0;
        for (key, count) in flow.routing_keys.ranked() {
            let of_key = hash(key.as_bytes());
            if asked.contains(&of_key) {
                answered.insert(of_key);
            }
            let is_reply = asked.contains(&of_key)
                || key.starts_with(DIRECT_REPLY_TO)
                || key.starts_with(CHOSEN_BY_BROKER);
            replies += if is_reply { count } else { 0 };
        }
        flow.is_reply = replies * 2 > flow.messages;
    }
    for flow in &mut flows.publishes {
        let is_answered = asked_queues(flow).any(|queue| answered.contains(&queue));
        let is_request = flow.with_reply_to * 2 > flow.messages;
        flow.is_request = is_request && (is_answered || flow.direct_requests > 0);
    }
    for flow in &mut flows.reads {
        let queue = flow.known_queue();
        flow.is_of_replies = queue.is_some_and(|queue| answered.contains(&hash(queue.as_bytes())));
    }
}

fn asked_queues(flow: &PublishFlow) -> impl Iterator<Item = u64> {
    flow.reply_queues.ranked().into_iter().map(|(queue, _)| *queue)
}
