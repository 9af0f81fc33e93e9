//! Requests and messages to the output.

use rabbitscope_protocol::Write as _;

use super::{
    frames::Codec,
    numbering::Numbering,
    state::{Connection, Publisher},
};
#[cfg(doc)]
use crate::event::Event;
use crate::{
    codec::{WriteTexts as _, write_frame},
    offset::Offset,
    protocol::{
        codes::Code,
        commands::{
            ANSWER, CONSUMER_UPDATE, CREDIT, DECLARE_PUBLISHER, DELIVER, EXCHANGE_COMMAND_VERSIONS,
            FILTER_VERSION, METADATA, PUBLISH, QUERY_OFFSET, STORE_OFFSET, SUBSCRIBE, UNSUBSCRIBE,
            VERSION,
        },
    },
    publish::{Content, Template},
};

impl Connection {
    /// Returns the end of the output, behind all messages.
    pub(super) fn end(&mut self) -> &mut Vec<u8> {
        self.complete_frames();
        self.output.end()
    }

    /// Moves the frames of messages to the output. They take no more messages.
    #[inline]
    pub(super) fn complete_frames(&mut self) {
        self.frames.complete_all(self.output.end());
    }

    /// Appends a request, and returns its number. [`Event::Answer`] has the same.
    pub(super) fn ask(&mut self, key: u16, write: impl FnOnce(&mut Vec<u8>)) -> u32 {
        self.correlation = self.correlation.wrapping_add(1);
        let correlation = self.correlation;
        write_frame(self.end(), key, |out| {
            out.put_u32(correlation);
            write(out);
        });
        correlation
    }

    /// Declares a stream of a publisher. A publisher can have several: the partitions of a super stream, in their order, each
    /// with an id of its own. With a reference, a stream takes each message of that name and number once.
    pub fn declare_publisher(
        &mut self,
        publisher: u8,
        id: u8,
        stream: &str,
        reference: &str,
    ) -> u32 {
        let ids = &mut self.publisher(publisher).ids;
        let place = u8::try_from(ids.len()).unwrap_or(u8::MAX);
        ids.push(id);
        let index = usize::from(id);
        if self.by_id.len() <= index {
            self.by_id.resize(index + 1, (0, 0));
        }
        self.by_id[index] = (publisher, place);
        self.ask(DECLARE_PUBLISHER, |out| {
            out.put_u8(id);
            out.put_text(reference);
            out.put_text(stream);
        })
    }

    fn publisher(&mut self, publisher: u8) -> &mut Publisher {
        let index = usize::from(publisher);
        if self.publishers.len() <= index {
            self.publishers.resize(index + 1, Publisher::default());
        }
        &mut self.publishers[index]
    }

    /// Sets the numbers of a publisher's next messages: those of messages that are sent again, which rise, and `next`
    /// for all that follow.
    pub fn resume(&mut self, publisher: u8, again: Vec<u64>, next: u64) {
        self.publisher(publisher).numbering = Numbering::new(again, next);
    }

    /// Subscribes to a stream. The broker may send `credit` chunks.
    pub fn subscribe(
        &mut self,
        subscription: u8,
        stream: &str,
        offset: Offset,
        credit: u16,
        properties: &[(&str, &str)],
    ) -> u32 {
        self.ask(SUBSCRIBE, |out| {
            out.put_u8(subscription);
            out.put_text(stream);
            offset.write(out);
            out.put_u16(credit);
            if !properties.is_empty() {
                out.put_pairs(properties);
            }
        })
    }

    /// Ends a subscription.
    pub fn unsubscribe(&mut self, subscription: u8) -> u32 {
        self.ask(UNSUBSCRIBE, |out| out.put_u8(subscription))
    }

    /// Lets the broker send `chunks` more chunks.
    #[inline]
    pub fn credit(&mut self, subscription: u8, chunks: u16) {
        write_frame(self.end(), CREDIT, |out| {
            out.put_u8(subscription);
            out.put_u16(chunks);
        });
    }

    /// Stores an offset of a stream under a name. The broker does not answer.
    pub fn store_offset(&mut self, name: &str, stream: &str, offset: u64) {
        write_frame(self.end(), STORE_OFFSET, |out| {
            out.put_text(name);
            out.put_text(stream);
            out.put_u64(offset);
        });
    }

    /// Asks for the offset of a stream that is stored under a name. [`Offset::from_stored`] reads the answer, whose code
    /// is [`Code::NO_OFFSET`](crate::Code::NO_OFFSET) if there is none.
    pub fn ask_for_offset(&mut self, name: &str, stream: &str) -> u32 {
        self.ask(QUERY_OFFSET, |out| {
            out.put_text(name);
            out.put_text(stream);
        })
    }

    /// Answers [`Event::Update`]: the place at which an active consumer begins; `None` for one that pauses.
    pub fn answer_update(&mut self, correlation: u32, offset: Option<Offset>) {
        write_frame(self.end(), CONSUMER_UPDATE | ANSWER, |out| {
            out.put_u32(correlation);
            out.put_u16(Code::OK.0);
            match offset {
                Some(offset) => offset.write(out),
                None => out.put_u16(0),
            }
        });
    }

    /// Asks for the versions of commands. Servers before 3.11 close the connection at that.
    pub(crate) fn ask_for_versions(&mut self) -> u32 {
        self.ask(EXCHANGE_COMMAND_VERSIONS, |out| {
            let ours = [(PUBLISH, FILTER_VERSION), (DELIVER, VERSION)];
            out.put_u32(u32::try_from(ours.len()).unwrap_or(0));
            for (key, most) in ours {
                out.put_u16(key);
                out.put_u16(VERSION);
                out.put_u16(most);
            }
        })
    }

    /// Lets messages have [filter values](Content::with_filter). The server must know them.
    pub fn set_filters(&mut self) {
        self.frames.set_filters();
    }

    /// Lets [`Connection::publish_content`] put up to `size` messages into an entry. The stream confirms the messages of
    /// an entry together.
    pub fn set_sub_entries(&mut self, size: u16, codec: Option<Codec>) {
        self.frames.set_sub_entries(size, codec);
    }

    /// Asks where a stream is.
    pub fn ask_for_place(&mut self, stream: &str) -> u32 {
        self.ask(METADATA, |out| {
            out.put_u32(1);
            out.put_text(stream);
        })
    }

    /// Appends `count` messages of a declared publisher. Returns the part of each body that may differ, for the caller to
    /// fill: zeros but for the bytes that the caller has changed in earlier messages.
    #[inline]
    pub fn publish(
        &mut self,
        template: &Template,
        count: usize,
    ) -> impl Iterator<Item = &mut [u8]> {
        let frame_max = self.frame_max;
        self.complete_frames();
        let numbering = &mut self.publishers[usize::from(template.publisher())].numbering;
        template.append(&mut self.output, count, numbering.take_all(count), frame_max)
    }

    /// Appends a message of a declared publisher that is encoded now, with `head` at the start of its body. `stream` is the
    /// index of its stream, or 0. Messages of a stream share a frame, and an entry if the connection has
    /// [sub-entries](Self::set_sub_entries).
    #[inline]
    pub fn publish_content(&mut self, publisher: u8, stream: u8, content: &Content, head: &[u8]) {
        let publisher = &mut self.publishers[usize::from(publisher)];
        let number = publisher.numbering.take();
        let id = publisher.ids.get(usize::from(stream)).copied().unwrap_or_default();
        let out = self.output.end();
        let is_new = self.frames.publish(out, (id, number), (content, head), self.frame_max);
        if self.frames.has_sub_entries() {
            publisher.numbering.note_in_entry(stream, number, is_new);
        }
    }
}
