//! Encoding of one publisher's messages into the output of its connection.

use rabbitscope_protocol::Encoded as _;
use rabbitscope_timing::STAMP_SIZE;

use super::batch::{MessageBatch, QUANTUM, put};
use crate::message::{Encoder, Payload};

/// The amount of encoded data.
pub(super) struct Encoded {
    pub(super) messages: u64,
    /// Bytes that applications would send, without compression.
    pub(super) item_bytes: u64,
}

/// Encodes up to `most` messages.
#[inline]
pub(super) fn encode<E: Encoder>(
    payload: &mut Payload<E>,
    most: u64,
    lane: u16,
    batch: &mut MessageBatch<'_, '_>,
    connection: &mut E,
) -> Encoded {
    let mut room = [[0; STAMP_SIZE]; QUANTUM];
    match payload {
        Payload::Plain(template) => {
            let messages = if batch.is_uniform() {
                batch.append_uniform(most, template, connection)
            } else {
                let stamps = batch.take(most, &mut room);
                let mut rest = stamps.iter();
                connection.publish(template, stamps.len()).for_each(|head| {
                    if let Some(stamp) = rest.next() {
                        put(*stamp, head);
                    }
                });
                stamps.len() as u64
            };
            Encoded { messages, item_bytes: messages * template.body_size() as u64 }
        }
        Payload::Composed(composed) => {
            let (next, again) = (batch.sequence, batch.numbers_again());
            let stamps = batch.take(most, &mut room);
            let mut cursor = composed.cursor(batch.context.now);
            cursor.seek(next);
            let mut item_bytes = 0;
            for (at, stamp) in stamps.iter().enumerate() {
                if let Some(number) = again.get(at) {
                    cursor.seek(*number);
                }
                let (route, body) = cursor.next();
                let has_room = body.head_room() >= STAMP_SIZE;
                let head = if has_room { &stamp[..] } else { &[] };
                connection.publish_parts(lane, route, body, head);
                item_bytes += body.body_size() as u64;
            }
            Encoded { messages: stamps.len() as u64, item_bytes }
        }
        Payload::Packed(packed) => {
            let stamps = batch.take(most, &mut room);
            let mut encoded = Encoded { messages: stamps.len() as u64, item_bytes: 0 };
            for stamp in stamps {
                let now = batch.context.now;
                encoded.item_bytes += connection.publish_packed(lane, packed, now, stamp);
            }
            encoded
        }
    }
}
