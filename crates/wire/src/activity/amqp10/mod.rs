//! AMQP 1.0: performatives, as events.
//!
//! ```text
//! sessions  sessions and links; transfers become messages
//! ids       numbers of deliveries by their ids
//! opening   fields of `open`, `attach` and `flow`
//! ```

mod ids;
mod opening;
mod sessions;

pub(super) use sessions::Sessions;
