//! The state of a message that is read piece by piece. `assembly.rs` reads it.

use crate::event::Message;

/// A message that has not been read as a whole.
#[derive(Debug)]
pub(super) struct Assembly {
    pub(super) message: Message<'static>,
    pub(super) body: Vec<u8>,
    /// Bytes of the body that have not been read.
    pub(super) left: usize,
}
