//! Requests and messages to the output.

use rabbitscope_protocol::Encoded;

use super::{
    numbering::Numbering,
    state::{Connection, OpenFrame},
    sub_entries::{Codec, SubEntries},
};
#[cfg(doc)]
use crate::event::Event;
use crate::{
    codec::{Write, end_frame, write_frame},
    offset::Offset,
    protocol::commands::{CREDIT, DECLARE_PUBLISHER, METADATA, SUBSCRIBE, UNSUBSCRIBE},
    publish::{Content, FRAME_HEAD, Template, write_head},
};

impl Connection {
    /// Returns the end of the output. A frame of messages cannot grow once something else follows it.
    pub(super) fn end(&mut self) -> &mut Vec<u8> {
        self.open_frame = None;
        self.close_sub_entries();
        self.output.end()
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

    /// Declares a publisher of a stream. With a reference, the stream takes each message of that name and number once.
    pub fn declare_publisher(&mut self, publisher: u8, stream: &str, reference: &str) -> u32 {
        self.resume(publisher, Vec::new(), 1);
        self.ask(DECLARE_PUBLISHER, |out| {
            out.put_u8(publisher);
            out.put_text(reference);
            out.put_text(stream);
        })
    }

    /// Sets the numbers of a publisher's next messages: those of messages that are sent again, which rise, and `next`
    /// for all that follow.
    pub fn resume(&mut self, publisher: u8, again: Vec<u64>, next: u64) {
        let index = usize::from(publisher);
        if self.numberings.len() <= index {
            self.numberings.resize(index + 1, Numbering::default());
        }
        self.numberings[index] = Numbering::new(again, next);
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

    /// Lets [`Connection::publish_content`] put up to `size` messages into an entry. The stream confirms the messages of
    /// an entry together.
    pub fn set_sub_entries(&mut self, size: u16, codec: Option<Codec>) {
        self.sub_entries = Some(Box::new(SubEntries::new(size, codec)));
    }

    /// Compresses the entries at the end of the output, which take no more messages.
    #[inline]
    pub(super) fn close_sub_entries(&mut self) {
        if let Some(sub_entries) = &mut self.sub_entries {
            sub_entries.close(self.output.end());
        }
    }

    /// Asks where a stream is.
    pub fn ask_for_place(&mut self, stream: &str) -> u32 {
        self.ask(METADATA, |out| {
            out.put_u32(1);
            out.put_text(stream);
        })
    }

    /// Appends `count` messages of a declared publisher. Returns the part of each body that may differ, all zeros, for
    /// the caller to fill.
    #[inline]
    pub fn publish(
        &mut self,
        template: &Template,
        count: usize,
    ) -> impl Iterator<Item = &mut [u8]> {
        let frame_max = self.frame_max;
        self.open_frame = None;
        self.close_sub_entries();
        let numbering = &mut self.numberings[usize::from(template.publisher())];
        template.append(self.output.end(), count, || numbering.take(), frame_max)
    }

    /// Appends a message of a declared publisher that is encoded now, with `head` at the start of its body. Messages in
    /// a row share a frame, and an entry if the connection has [sub-entries](Self::set_sub_entries).
    #[inline]
    pub fn publish_content(&mut self, publisher: u8, content: &Content, head: &[u8]) {
        let numbering = &mut self.numberings[usize::from(publisher)];
        let number = numbering.take();
        if let Some(entries) = &mut self.sub_entries {
            let (out, place) = (self.output.end(), (publisher, number));
            let is_new = entries.publish(out, place, content, head, self.frame_max);
            return numbering.note_in_entry(number, is_new);
        }
        let frame_max = self.frame_max as usize;
        let has_room = |frame: &OpenFrame| frame.length + content.wire_size() <= frame_max;
        let open = self.open_frame.filter(|frame| frame.publisher == publisher && has_room(frame));
        let out = self.output.end();
        let mut frame = open.unwrap_or_else(|| {
            // Size and count follow.
            write_head(out, 0, publisher, 0);
            OpenFrame { publisher, length: FRAME_HEAD, count: 0 }
        });
        let at = out.len() - frame.length;
        content.append(out, number, head);
        frame.length = out.len() - at;
        frame.count += 1;
        out[at + FRAME_HEAD - 4..at + FRAME_HEAD].copy_from_slice(&frame.count.to_be_bytes());
        end_frame(out, at);
        self.open_frame = Some(frame);
    }
}
