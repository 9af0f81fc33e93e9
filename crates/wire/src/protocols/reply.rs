//! Code and text of the current frame, kept until it is complete.

use super::frame::Reply;

/// Maximum of bytes kept of a text.
const TEXT_MAX: usize = 255;

/// Code and text, if the frame has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct StoredReply {
    is_there: bool,
    code: Option<u32>,
    text: Vec<u8>,
    cause: Option<(u16, u16)>,
}

impl StoredReply {
    /// Resets for the next frame.
    #[inline]
    pub(super) const fn clear(&mut self) {
        self.is_there = false;
    }

    pub(super) fn set(&mut self, reply: &Reply<'_>) {
        (self.is_there, self.code, self.cause) = (true, reply.code, reply.cause);
        self.text.clear();
        self.text.extend_from_slice(&reply.text[..reply.text.len().min(TEXT_MAX)]);
    }

    /// Stores the reply of a frame with only a code.
    pub(super) fn set_code(&mut self, code: u32) {
        self.set(&Reply { code: Some(code), text: &[], cause: None });
    }

    #[inline]
    pub(super) fn reply(&self) -> Option<Reply<'_>> {
        self.is_there.then_some(Reply { code: self.code, text: &self.text, cause: self.cause })
    }

    /// Stores the reply of a frame with only a text.
    pub(super) fn set_text(&mut self, text: &[u8]) {
        self.set(&Reply { code: None, text, cause: None });
    }

    /// Copies a frame's reply.
    pub(super) fn from_reply(reply: Option<Reply<'_>>) -> Self {
        let mut stored = Self::default();
        if let Some(reply) = &reply {
            stored.set(reply);
        }
        stored
    }
}
