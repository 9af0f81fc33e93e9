//! Class ids.

pub(super) const CONNECTION: u16 = 10;
pub(super) const CHANNEL: u16 = 20;
pub(super) const EXCHANGE: u16 = 40;
pub(super) const QUEUE: u16 = 50;
/// Class of messages, also in content headers.
pub(crate) const BASIC: u16 = 60;
pub(super) const CONFIRM: u16 = 85;
pub(super) const TX: u16 = 90;
