//! Profiles in OTLP: `v1development/profiles`, protobuf, gzipped.
//!
//! The signal is in development and its messages change: between 1.9 and 1.10 of the protocol `Sample.values` got
//! another number. [`message`] is that of 1.10 and 1.11; a test decodes a request with OpenTelemetry's own definitions.

mod dictionary;
mod message;
mod request;

pub(crate) use request::{otlp_profiles, rejected_profiles};
