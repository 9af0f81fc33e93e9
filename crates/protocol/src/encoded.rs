//! A message that is encoded before it is sent.

/// A message, or its body with properties. Some of its bytes, the *head*, can differ each time that it is sent.
pub trait Encoded {
    /// Returns the number of bytes of the body.
    fn body_size(&self) -> usize;

    /// Returns the length of the head in bytes.
    fn head_room(&self) -> usize;

    /// Returns the number of bytes on the wire, frames included.
    fn wire_size(&self) -> usize;
}
