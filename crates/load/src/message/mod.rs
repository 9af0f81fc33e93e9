//! Message bodies, properties, routing keys and stamps.

mod body_files;
mod json;
mod messages;
mod payload;
mod stamp;

pub use body_files::BodyFiles;
pub(crate) use messages::Messages;
pub use messages::unreadable_file;
pub(crate) use payload::{PackedMessage, Payload};
pub use stamp::run_tag;
pub(crate) use stamp::{Numbering, STAMP_SIZE, Stamp};
