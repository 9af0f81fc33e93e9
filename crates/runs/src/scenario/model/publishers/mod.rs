//! Publishers and the contents of their messages.

mod content;
mod group;
mod packing;

pub(super) use content::stamp_bytes;
pub use content::{
    Body, BodyKind, ConfirmTimeout, MessageProperties, OnConfirmTimeout, PropertyShare,
    RoutingKeys, STAMP_BYTES, STAMP_HEADER, SizeShare, SizeStep,
};
pub(in crate::scenario) use group::JSON_BODIES;
pub use group::{NO_WINDOW, PublisherGroup};
pub use packing::{Algorithm, Compression, ITEMS_HEADER, MAX_ITEMS, Packing, WriteMode};
