//! The state of a renewal: a pair of links.

use std::fmt;

/// The pair of links, and the token that it has not sent yet.
#[derive(Default)]
pub(super) struct Renewal {
    pub(super) token: Option<String>,
    /// Links that the broker has attached.
    pub(super) attached: u8,
    pub(super) sent: u32,
}

/// Hides the token.
impl fmt::Debug for Renewal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Renewal").field("sent", &self.sent).finish_non_exhaustive()
    }
}
