//! Synchronous methods of AMQP 0-9-1, requests and their replies.

use super::script::Script;
use crate::{
    protocols::{ContentHeader, Details, Protocol},
    report::{
        LatencyKind::{Method, RequestToReply},
        Side,
    },
};

#[test]
fn synchronous_methods_in_both_directions() {
    let mut script = Script::new(Protocol::Amqp091);
    script.method(1, Side::Client, "queue.declare", (50, 10));
    let no_wait = Details::Method { number: (50, 10), no_wait: true };
    script.at(2, Side::Client, "queue.declare", no_wait);
    script.method(3, Side::Client, "queue.bind", (50, 20));
    script.method(4, Side::Broker, "queue.declare-ok", (50, 11));
    script.method(5, Side::Broker, "queue.bind-ok", (50, 21));
    script.method(6, Side::Broker, "channel.close", (20, 40));
    script.method(8, Side::Client, "channel.close-ok", (20, 41));
    script.method(9, Side::Client, "basic.get", (60, 70));
    script.method(10, Side::Broker, "basic.get-empty", (60, 72));
    script.method(11, Side::Broker, "queue.purge-ok", (50, 31));
    assert_eq!(script.names[2], ("channel.close-ok", Side::Broker));
    script.check(&[(Method, 3, 1, 4), (Method, 2, 3, 5), (Method, 2, 6, 8), (Method, 1, 9, 10)]);
    script.check_unmatched(Method, [0, 1, 0, 0]);
}

#[test]
fn requests_and_replies_from_both_ends() {
    let mut script = Script::new(Protocol::Amqp091);
    let header = |reply_to| ContentHeader {
        correlation_id: Some(5),
        reply_to,
        is_read: true,
        ..ContentHeader::default()
    };
    script.publish_with(1, header(Some(77)), 3);
    script.deliver_with(2, 1, Some(7), header(Some(77)), 3);
    script.publish_with(5, header(None), 77);
    script.deliver_with(6, 2, Some(8), header(None), 77);
    assert_eq!(
        script.names.iter().map(|name| name.1).collect::<Vec<_>>(),
        [Side::Broker, Side::Client]
    );
    script.check(&[(RequestToReply, 3, 2, 5), (RequestToReply, 5, 1, 6)]);
    script.publish_with(7, header(Some(77)), 3);
    assert_eq!(script.replies.unmatched().open, 1);
}
