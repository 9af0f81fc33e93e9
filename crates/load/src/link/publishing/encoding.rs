//! Encoding of one publisher's messages into the output of its connection.

use rabbitscope_amqp::Connection;
use rabbitscope_timing::STAMP_SIZE;

use super::batch::{MessageBatch, QUANTUM, put};
use crate::message::{PackedMessage, Payload};

/// The amount of encoded data.
pub(super) struct Encoded {
    pub(super) messages: u64,
    /// Bytes that applications would send, without compression.
    pub(super) item_bytes: u64,
}

/// Encodes up to `most` messages.
#[inline]
pub(super) fn encode(
    payload: &mut Payload,
    most: u64,
    channel: u16,
    batch: &mut MessageBatch<'_, '_>,
    connection: &mut Connection,
) -> Encoded {
    let mut room = [[0; STAMP_SIZE]; QUANTUM];
    match payload {
        Payload::Plain(template) => {
            let messages = if batch.is_uniform() {
                batch.append_uniform(most, template, connection)
            } else {
                let stamps = batch.take(most, &mut room);
                let heads = connection.publish(template, stamps.len());
                for (head, stamp) in heads.zip(stamps) {
                    put(*stamp, head);
                }
                stamps.len() as u64
            };
            Encoded { messages, item_bytes: messages * template.body_size() as u64 }
        }
        Payload::Composed(composed) => {
            let stamps = batch.take(most, &mut room);
            let mut cursor = composed.cursor(batch.context.now);
            let mut item_bytes = 0;
            for stamp in stamps {
                let (route, body) = cursor.next();
                let has_room = body.head_room() >= STAMP_SIZE;
                let head = if has_room { &stamp[..] } else { &[] };
                connection.publish_parts(channel, route, body, head);
                item_bytes += body.body_size() as u64;
            }
            Encoded { messages: stamps.len() as u64, item_bytes }
        }
        Payload::Packed(packed) => {
            let stamps = batch.take(most, &mut room);
            let mut encoded = Encoded { messages: stamps.len() as u64, item_bytes: 0 };
            for stamp in stamps {
                let message = packed.next(batch.context.now);
                let PackedMessage { route, head, body, item_bytes } = message;
                connection.publish_body(channel, route, head, stamp, body);
                encoded.item_bytes += item_bytes;
            }
            encoded
        }
    }
}
