//! AMQP 0-9-1: confirms, acknowledgements, requests with replies, and synchronous methods, by channel.

mod asked;
mod bounds;
mod channel;
mod channels;
mod confirms;
mod content;
mod deliveries;
mod methods;
mod turns;

pub(super) use channels::Channels;
pub(crate) use turns::TurnFigures;
