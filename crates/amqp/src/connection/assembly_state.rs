//! A message that is being assembled.

use crate::method::ContentMethod;

/// A message that has not arrived completely.
#[derive(Debug)]
pub(super) struct Assembly {
    pub(super) method: ContentMethod<'static>,
    /// Properties, once the header has arrived.
    pub(super) properties: Option<Vec<u8>>,
    pub(super) body_size: u64,
    pub(super) body: Vec<u8>,
}
