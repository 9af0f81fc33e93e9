//! Findings about packets, as findings of the node.

mod packets;
mod settings;

pub(super) use packets::packets;
