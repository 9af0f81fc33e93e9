//! Methods: clients send a [`Request`], the broker sends a [`ServerMethod`].

#[cfg(test)]
mod layouts;
mod request;
mod server;

pub use request::Request;
pub(crate) use request::{Handshake, write_handshake, write_publish, write_request};
pub use server::Reply;
pub(crate) use server::{ContentMethod, ServerMethod};
