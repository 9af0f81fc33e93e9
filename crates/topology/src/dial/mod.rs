//! Connections to the broker: addresses, sockets, TLS, login, and their errors.

mod control_stream;
mod dialer;
mod errors;
mod stream;
mod tls;

pub use control_stream::{ControlClient, ControlStream};
pub use dialer::Dialer;
pub(crate) use errors::{dial_error, request_error};
pub(crate) use stream::{Received, Stream};
