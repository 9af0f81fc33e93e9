//! Arguments of methods.

use super::{
    super::{
        arguments::{Arguments, hash, short_length},
        details::{Consume, Delivery, Details, Outcome, Publish, Settlement},
        frame::Reply,
    },
    names::{BASIC, CONNECTION, DIRECT_REPLY_TO, no_wait_bit},
};

/// Reads a method's arguments, or their beginning. Truncated arguments yield only the method's number.
pub(super) fn details(class: u16, method: u16, arguments: &[u8]) -> Details {
    let of_class_basic =
        if class == BASIC { basic(method, Arguments::new(arguments)) } else { None };
    of_class_basic.unwrap_or_else(|| Details::Method {
        number: (class, method),
        no_wait: no_wait(class, method, Arguments::new(arguments)).unwrap_or(false),
    })
}

/// Returns code and text of a close, a return or a block. For a cancellation the text is the consumer tag. For
/// `connection.tune-ok` the code is the negotiated heartbeat in seconds.
pub(super) fn reply(class: u16, method: u16, arguments: &[u8]) -> Option<Reply<'_>> {
    let mut arguments = Arguments::new(arguments);
    let (mut code, mut text, mut cause) = (None, &[][..], None);
    match (class, method) {
        (CONNECTION | BASIC, 50) | (20, 40) => {
            code = Some(u32::from(arguments.u16()?));
            text = arguments.short()?;
            cause = arguments.u16().zip(arguments.u16()).filter(|_| class != BASIC);
        }
        (CONNECTION, 60) | (BASIC, 30) => text = arguments.short()?,
        (CONNECTION, 31) => {
            arguments.bytes(6)?;
            code = Some(u32::from(arguments.u16()?));
        }
        _ => return None,
    }
    Some(Reply { code, text, cause })
}

#[inline]
fn basic(method: u16, mut arguments: Arguments<'_>) -> Option<Details> {
    match method {
        40 => publish(arguments),
        60 => {
            let consumer_tag = Some(hash(arguments.short()?));
            delivery(consumer_tag, arguments)
        }
        71 => delivery(None, arguments),
        80 => settlement(arguments, Outcome::Accepted),
        120 => settlement(arguments, Outcome::Refused),
        90 => {
            let tag = arguments.u64()?;
            Some(Details::Settlement(Settlement {
                tag,
                multiple: false,
                outcome: Outcome::Refused,
            }))
        }
        20 => consume(arguments),
        70 => get(arguments),
        21 => {
            let consumer_tag = Some(hash(arguments.short()?));
            Some(Details::Consume(Consume { consumer_tag, auto_ack: false, no_wait: false }))
        }
        50 => Some(Details::Return),
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
        is_direct_reply: routing_key.starts_with(DIRECT_REPLY_TO),
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

fn no_wait(class: u16, method: u16, mut arguments: Arguments<'_>) -> Option<bool> {
    let (bytes, texts, bit) = no_wait_bit(class, method)?;
    arguments.bytes(bytes)?;
    for _ in 0..texts {
        arguments.short()?;
    }
    Some(arguments.u8()? >> bit & 1 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bit_for_no_answer_is_found() {
        fn check(class: u16, method: u16, arguments: &[u8], expected: bool) {
            let number = (class, method);
            assert_eq!(
                details(class, method, arguments),
                Details::Method { number, no_wait: expected }
            );
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
        let Details::Delivery(delivery) = details(60, 60, arguments) else { panic!("a delivery") };
        assert_eq!((delivery.delivery_tag, delivery.redelivered), (258, true));
        assert_eq!((delivery.exchange_bytes, delivery.routing_key_bytes), (1, 3));
        assert_eq!(delivery.consumer_tag, Some(hash(b"tag")));
        let cut = Details::Method { number: (60, 60), no_wait: false };
        assert_eq!(details(60, 60, &arguments[..arguments.len() - 1]), cut);
        let expected = Settlement { tag: 5, multiple: true, outcome: Outcome::Refused };
        assert_eq!(details(60, 120, &[0, 0, 0, 0, 0, 0, 0, 5, 1]), Details::Settlement(expected));
    }
}
