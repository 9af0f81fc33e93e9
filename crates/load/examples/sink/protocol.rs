//! The protocols that are measured: the scenario of a publisher, and the bytes of its messages for the bare writer.

use rabbitscope_amqp::{Properties, PublishTarget, PublishTemplate};
use rabbitscope_amqp10::{Content, Sections};
use rabbitscope_mqtt::{QualityOfService, Topic, Version};
use rabbitscope_protocol::Encoded as _;
use rabbitscope_streams::{
    Template,
    protocol::commands::{PUBLISH, VERSION},
};

use super::{Failure, byte_sink::Answers, stream::HEAD_BYTES};

/// Name of the queue, as long as the one in the bare writer's messages.
const QUEUE: &str = "nine-char";

/// Largest write of the publishing path.
const CHUNK_BYTES: usize = 65_483;

/// Largest frame that the sink agrees to, except on streams.
const FRAME_MAX: u32 = 131_072;

/// Publisher of the bare writer's messages on a stream.
const PUBLISHER: u8 = 1;

/// A protocol of the load.
#[derive(Clone, Copy)]
pub(crate) enum Protocol {
    Amqp091,
    Amqp10,
    Stream,
    Mqtt,
}

/// The bytes of a write, and the number of messages in them.
pub(crate) struct Chunk {
    pub(crate) bytes: Vec<u8>,
    pub(crate) messages: u64,
}

impl Protocol {
    /// Returns the protocol of this name; AMQP 0-9-1 without one.
    pub(crate) fn find(name: Option<&str>) -> Result<Self, Failure> {
        match name {
            None | Some("amqp-0-9-1") => Ok(Self::Amqp091),
            Some("amqp-1.0") => Ok(Self::Amqp10),
            Some("stream") => Ok(Self::Stream),
            Some("mqtt") => Ok(Self::Mqtt),
            Some(other) => {
                Err(format!("`{other}` is not amqp-0-9-1, amqp-1.0, stream or mqtt").into())
            }
        }
    }

    /// Returns the sections of the scenario with its only publisher, of bodies of this size.
    pub(crate) fn publisher(self, body_bytes: usize) -> String {
        let (queue, publisher) = match self {
            Self::Amqp091 => ("", "persistent = true"),
            Self::Amqp10 => ("", "protocol = \"amqp-1.0\", persistent = true"),
            Self::Stream => (", type = \"stream\"", "protocol = \"stream\""),
            Self::Mqtt => {
                return format!(
                    "publishers = [{{ topic = \"{QUEUE}\", protocol = \"mqtt\", qos = 0, \
                     size = \"{body_bytes}B\" }}]\n"
                );
            }
        };
        format!(
            "queues = [{{ name = \"{QUEUE}\"{queue} }}]\n\
             publishers = [{{ queue = \"{QUEUE}\", size = \"{body_bytes}B\", {publisher} }}]\n"
        )
    }

    /// Returns the answers of the sink to the publisher's messages.
    pub(crate) fn answers(self) -> Answers {
        match self {
            Self::Amqp091 | Self::Mqtt => Answers::Nothing,
            Self::Amqp10 => Answers::Outcomes,
            Self::Stream => Answers::StreamConfirms,
        }
    }

    /// Returns a write of the bare writer. Its messages have the sizes of real ones, and what the sink reads of them.
    pub(crate) fn chunk(self, body_bytes: usize) -> Chunk {
        let size = self.wire_size(body_bytes);
        let head = if matches!(self, Self::Stream) { HEAD_BYTES } else { 0 };
        let count = (CHUNK_BYTES - head) / size;
        let mut bytes = Vec::with_capacity(head + count * size);
        if head > 0 {
            bytes.extend(number(head - 4 + count * size));
            bytes.extend([PUBLISH.to_be_bytes(), VERSION.to_be_bytes()].concat());
            bytes.push(PUBLISHER);
            bytes.extend(number(count));
        }
        for at in 0..count {
            let start = bytes.len();
            match self {
                Self::Amqp10 => bytes.extend(number(size)),
                Self::Stream => bytes.extend((at as u64 + 1).to_be_bytes()),
                Self::Amqp091 | Self::Mqtt => {}
            }
            bytes.resize(start + size, 0);
        }
        Chunk { bytes, messages: count as u64 }
    }

    /// Returns the bytes of a message on the wire, without the head of a stream's frames.
    fn wire_size(self, body_bytes: usize) -> usize {
        match self {
            Self::Amqp091 => {
                let target = PublishTarget {
                    channel: 1,
                    exchange: "",
                    routing_key: QUEUE,
                    mandatory: false,
                    properties: &Properties::with_delivery_mode(true),
                };
                PublishTemplate::new(&target, body_bytes, FRAME_MAX).wire_size()
            }
            Self::Amqp10 => {
                let sections = Sections { durable: true, ..Sections::default() };
                Content::new(0, &sections, &vec![0; body_bytes], FRAME_MAX).wire_size()
            }
            Self::Stream => Template::new(PUBLISHER, body_bytes).wire_size(),
            Self::Mqtt => {
                Topic::new(QUEUE, QualityOfService::AtMostOnce, Version::V3).packet_size(body_bytes)
            }
        }
    }
}

fn number(value: usize) -> [u8; 4] {
    u32::try_from(value).unwrap_or(u32::MAX).to_be_bytes()
}
