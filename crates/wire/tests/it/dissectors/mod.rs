//! Dissectors with bytes in any pieces, and with missing bytes.

mod answers;
mod built;
mod captured;
mod collected;
mod conversation;
mod live;
mod pieces;
mod recorded;
mod secrets;

pub(crate) use built::{BODY, Built, SECRET, from_the_beginning};
