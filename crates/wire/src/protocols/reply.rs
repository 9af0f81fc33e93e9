//! Code and text of the frame that is read, kept until it is complete.

use super::frame::Reply;

/// What is kept of a text.
const TEXT_MAX: usize = 255;

/// Code and text, where the frame has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct StoredReply {
    is_there: bool,
    code: Option<u32>,
    text: Vec<u8>,
    cause: Option<(u16, u16)>,
}

impl StoredReply {
    /// The next frame begins.
    #[inline]
    pub(super) const fn clear(&mut self) {
        self.is_there = false;
    }

    pub(super) fn set(&mut self, reply: &Reply<'_>) {
        (self.is_there, self.code, self.cause) = (true, reply.code, reply.cause);
        self.text.clear();
        self.text.extend_from_slice(&reply.text[..reply.text.len().min(TEXT_MAX)]);
    }

    /// Of a frame that has a code alone.
    pub(super) fn set_code(&mut self, code: u32) {
        self.set(&Reply { code: Some(code), text: &[], cause: None });
    }

    #[inline]
    pub(super) fn reply(&self) -> Option<Reply<'_>> {
        self.is_there.then_some(Reply { code: self.code, text: &self.text, cause: self.cause })
    }

    /// Of a frame that has a text alone.
    pub(super) fn set_text(&mut self, text: &[u8]) {
        self.set(&Reply { code: None, text, cause: None });
    }

    /// A copy of what a frame has.
    pub(super) fn of(reply: Option<Reply<'_>>) -> Self {
        let mut stored = Self::default();
        if let Some(reply) = &reply {
            stored.set(reply);
        }
        stored
    }
}
