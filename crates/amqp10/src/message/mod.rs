//! Messages: encoded before they are sent, and looked into when they arrive.

mod content;
pub(crate) mod received;
mod sections;

pub use content::Content;
pub use sections::Sections;
