//! Assembly of messages from their frames: a method, a content header, bodies.

use crate::protocols::{ContentHeader, Delivery, Details, Publish};

/// The method before a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Carrier {
    Publish(Publish),
    Delivery(Delivery),
    Return,
}

/// A complete message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Message {
    pub(super) carrier: Carrier,
    pub(super) header: ContentHeader,
}

/// The message that one side is sending on a channel.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Content {
    carrier: Option<Carrier>,
    header: Option<ContentHeader>,
    left_bytes: u64,
}

impl Content {
    /// Processes the next frame. Returns the message if it is complete.
    #[inline]
    pub(super) fn frame(&mut self, details: &Details) -> Option<Message> {
        match details {
            Details::Publish(publish) => self.begin(Carrier::Publish(*publish)),
            Details::Delivery(delivery) => self.begin(Carrier::Delivery(*delivery)),
            Details::Return => self.begin(Carrier::Return),
            Details::Header(header) => {
                self.header = Some(*header);
                self.left_bytes = header.body_bytes;
            }
            Details::Body(bytes) => {
                self.left_bytes = self.left_bytes.saturating_sub(u64::from(*bytes));
            }
            // Other methods may come between; the end of a channel leaves no message.
            _ => return None,
        }
        self.complete()
    }

    fn begin(&mut self, carrier: Carrier) {
        *self = Self { carrier: Some(carrier), header: None, left_bytes: 0 };
    }

    fn complete(&mut self) -> Option<Message> {
        let header = self.header.filter(|_| self.left_bytes == 0)?;
        let message = self.carrier.map(|carrier| Message { carrier, header });
        *self = Self::default();
        message
    }

    /// Discards the current message, because the next frames need not belong to it.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_complete_with_its_last_body() {
        let publish =
            Publish { exchange_bytes: 0, routing_key_bytes: 0, routing_key: 0, mandatory: false };
        let header = |body_bytes| ContentHeader { body_bytes, ..ContentHeader::default() };
        let mut content = Content::default();
        assert_eq!(content.frame(&Details::Body(5)), None);
        assert_eq!(content.frame(&Details::Header(header(0))), None, "a header without a method");
        assert_eq!(content.frame(&Details::Publish(publish)), None);
        assert_eq!(content.frame(&Details::Header(header(5))), None);
        assert_eq!(content.frame(&Details::Body(4)), None);
        let expected = Message { carrier: Carrier::Publish(publish), header: header(5) };
        assert_eq!(content.frame(&Details::Body(1)), Some(expected));
        assert_eq!(content.frame(&Details::Return), None);
        let expected = Message { carrier: Carrier::Return, header: header(0) };
        assert_eq!(content.frame(&Details::Header(header(0))), Some(expected));
    }
}
