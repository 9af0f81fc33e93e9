//! Messages: encoded before they are sent, and looked into when they arrive.

mod content;
mod framing;
mod parts;
pub(crate) mod received;
mod sections;

pub use content::Content;
pub(crate) use content::append_parts;
pub(crate) use framing::Framing;
pub use parts::{Parts, Properties};
pub(crate) use sections::write_request;
pub use sections::{Blank, Sections};
