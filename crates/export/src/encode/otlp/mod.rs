//! Profiles in OTLP: `v1development/profiles`, protobuf, gzipped.
//!
//! The signal is in development and its messages change: version 1.10 of the protocol renumbered `Sample.values`.
//! [`message`] follows 1.10 and 1.11. A test decodes a request with OpenTelemetry's own definitions.

mod dictionary;
mod message;
mod request;

pub(crate) use request::{otlp_profiles, rejected_profiles};
