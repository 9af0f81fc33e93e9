//! Connections to the broker: addresses, sockets, TLS, login, and their errors.

mod amqp10;
mod control_stream;
mod dialer;
mod errors;
mod mqtt;
mod stream;
mod streams;
mod tls;
mod token;

pub use amqp10::{Amqp10Client, amqp10_error};
pub use control_stream::ControlClient;
pub use dialer::{Dialer, Unanswered};
pub use errors::{dial_error, request_error};
pub use mqtt::{MqttClient, MqttIdentity, mqtt_error};
pub use stream::{Received, Sent, Stream, Tls};
pub use streams::{StreamClient, StreamEnd, stream_error};
pub use token::TokenFile;
