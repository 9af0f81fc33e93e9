//! The distribution protocol: handshake, frames, control messages. Works on bytes, without threads.

mod control;
mod flags;
mod frame;
mod handshake;
mod timed;

pub use control::Incoming;
pub(crate) use control::{Outgoing, frame_of, message_of};
pub use frame::{FrameError, FrameReader};
pub(crate) use handshake::{Prefix, Visitor, shake_hands};
pub(crate) use timed::Timed;
