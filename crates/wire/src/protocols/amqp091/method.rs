//! Arguments of methods.

use super::super::{
    arguments::{Arguments, hash, short_length},
    details::{Consume, Delivery, Details, Outcome, Publish, Settlement},
    frame::Reply,
};
use rabbitscope_amqp::protocol::{
    frames::DIRECT_REPLY_TO,
    methods::{self, Field, Method, MethodId},
};

/// Reads a method's arguments, or their beginning. Truncated arguments yield only the method's number.
pub(super) fn details(id: MethodId, arguments: &[u8]) -> Details {
    basic(id, Arguments::new(arguments)).unwrap_or_else(|| Details::Method {
        number: id,
        no_wait: no_wait(id, Arguments::new(arguments)).unwrap_or(false),
    })
}

/// Returns code and text of a close, a return or a block. For a cancellation the text is the consumer tag. For
/// `connection.tune-ok` the code is the negotiated heartbeat in seconds.
pub(super) fn reply(id: MethodId, arguments: &[u8]) -> Option<Reply<'_>> {
    let mut arguments = Arguments::new(arguments);
    let (mut code, mut text, mut cause) = (None, &[][..], None);
    match id {
        methods::CONNECTION_CLOSE | methods::CHANNEL_CLOSE | methods::BASIC_RETURN => {
            code = Some(u32::from(arguments.u16()?));
            text = arguments.short()?;
            cause = arguments.u16().zip(arguments.u16()).filter(|_| id != methods::BASIC_RETURN);
        }
        methods::CONNECTION_BLOCKED | methods::BASIC_CANCEL => text = arguments.short()?,
        methods::CONNECTION_TUNE_OK => {
            arguments.bytes(6)?;
            code = Some(u32::from(arguments.u16()?));
        }
        _ => return None,
    }
    Some(Reply { code, text, cause })
}

/// Reads the methods with details of their own, all of class `basic`.
#[inline]
fn basic(id: MethodId, mut arguments: Arguments<'_>) -> Option<Details> {
    match id {
        methods::BASIC_PUBLISH => publish(arguments),
        methods::BASIC_DELIVER => {
            let consumer_tag = Some(hash(arguments.short()?));
            delivery(consumer_tag, arguments)
        }
        methods::BASIC_GET_OK => delivery(None, arguments),
        methods::BASIC_ACK => settlement(arguments, Outcome::Accepted),
        methods::BASIC_NACK => settlement(arguments, Outcome::Refused),
        methods::BASIC_REJECT => {
            let tag = arguments.u64()?;
            Some(Details::Settlement(Settlement {
                tag,
                multiple: false,
                outcome: Outcome::Refused,
            }))
        }
        methods::BASIC_CONSUME => consume(arguments),
        methods::BASIC_GET => get(arguments),
        methods::BASIC_CONSUME_OK => {
            let consumer_tag = Some(hash(arguments.short()?));
            Some(Details::Consume(Consume { consumer_tag, auto_ack: false, no_wait: false }))
        }
        methods::BASIC_RETURN => Some(Details::Return),
        _ => None,
    }
}

fn publish(mut arguments: Arguments<'_>) -> Option<Details> {
    arguments.u16()?;
    let exchange = arguments.short()?;
    let routing_key = arguments.short()?;
    let bits = arguments.u8()?;
    Some(Details::Publish(Publish {
        exchange_bytes: short_length(exchange),
        routing_key_bytes: short_length(routing_key),
        routing_key: hash(routing_key),
        mandatory: bits & 1 != 0,
    }))
}

fn delivery(consumer_tag: Option<u64>, mut arguments: Arguments<'_>) -> Option<Details> {
    let delivery_tag = arguments.u64()?;
    let redelivered = arguments.u8()? & 1 != 0;
    let exchange = arguments.short()?;
    let routing_key = arguments.short()?;
    Some(Details::Delivery(Delivery {
        consumer_tag,
        delivery_tag,
        redelivered,
        exchange_bytes: short_length(exchange),
        routing_key_bytes: short_length(routing_key),
        routing_key: hash(routing_key),
        is_direct_reply: routing_key.starts_with(DIRECT_REPLY_TO.as_bytes()),
    }))
}

fn settlement(mut arguments: Arguments<'_>, outcome: Outcome) -> Option<Details> {
    let tag = arguments.u64()?;
    let multiple = arguments.u8()? & 1 != 0;
    Some(Details::Settlement(Settlement { tag, multiple, outcome }))
}

fn consume(mut arguments: Arguments<'_>) -> Option<Details> {
    arguments.u16()?;
    arguments.short()?;
    let tag = arguments.short()?;
    let bits = arguments.u8()?;
    let consumer_tag = (!tag.is_empty()).then(|| hash(tag));
    let (auto_ack, no_wait) = (bits & 0b10 != 0, bits & 0b1000 != 0);
    Some(Details::Consume(Consume { consumer_tag, auto_ack, no_wait }))
}

fn get(mut arguments: Arguments<'_>) -> Option<Details> {
    arguments.u16()?;
    arguments.short()?;
    let auto_ack = arguments.u8()? & 1 != 0;
    Some(Details::Consume(Consume { consumer_tag: None, auto_ack, no_wait: false }))
}

/// Reads the flag of a method that says that the sender wants no answer; absent if the method has no such flag.
fn no_wait(id: MethodId, mut arguments: Arguments<'_>) -> Option<bool> {
    for field in Method::find(id)?.fields {
        match field {
            Field::FlagsWithNoWait(bit) => return Some(arguments.u8()? >> bit & 1 != 0),
            Field::Octet | Field::Flags => arguments.bytes(1)?,
            Field::Short => arguments.bytes(2)?,
            Field::Long => arguments.bytes(4)?,
            Field::LongLong => arguments.bytes(8)?,
            Field::ShortString => arguments.short()?,
            Field::LongString | Field::Table => arguments.long()?,
        };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bit_for_no_answer_is_found() {
        fn check(class: u16, method: u16, arguments: &[u8], expected: bool) {
            let number = (class, method);
            assert_eq!(details(number, arguments), Details::Method { number, no_wait: expected });
        }
        check(50, 10, b"\0\0\x01q\x10\0\0\0\0", true);
        check(50, 10, b"\0\0\x01q\x0f\0\0\0\0", false);
        check(40, 10, b"\0\0\x01e\x06direct\x10\0\0\0\0", true);
        check(50, 20, b"\0\0\x01q\x01e\x01k\x01\0\0\0\0", true);
        check(85, 10, b"\x01", true);
        check(85, 10, b"", false);
        check(50, 50, b"\0\0\x01q\x01e\x01k\x01\0\0\0\0", false);
    }

    #[test]
    fn deliveries_and_acknowledgements_have_their_tags() {
        let arguments = b"\x03tag\0\0\0\0\0\0\x01\x02\x01\x01e\x03key";
        let Details::Delivery(delivery) = details((60, 60), arguments) else {
            panic!("a delivery")
        };
        assert_eq!((delivery.delivery_tag, delivery.redelivered), (258, true));
        assert_eq!((delivery.exchange_bytes, delivery.routing_key_bytes), (1, 3));
        assert_eq!(delivery.consumer_tag, Some(hash(b"tag")));
        let cut = Details::Method { number: (60, 60), no_wait: false };
        assert_eq!(details((60, 60), &arguments[..arguments.len() - 1]), cut);
        let expected = Settlement { tag: 5, multiple: true, outcome: Outcome::Refused };
        assert_eq!(details((60, 120), &[0, 0, 0, 0, 0, 0, 0, 5, 1]), Details::Settlement(expected));
    }
}
