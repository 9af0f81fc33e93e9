//! Message bodies, properties, routing keys and stamps.

mod body_files;
mod json;
mod messages;
mod payload;

pub use body_files::BodyFiles;
pub(crate) use messages::Messages;
pub use messages::unreadable_file;
pub(crate) use payload::{PackedMessage, Payload};
