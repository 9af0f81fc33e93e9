//! Erlang terms: values, printing, and the external form.
//!
//! The meaning of terms is elsewhere.

mod decode;
mod encode;
mod print;
mod tag;
mod value;

pub use decode::{Limits, TermError, decode, decode_first};
pub use encode::encode;
pub use value::{Atom, BigInteger, Opaque, Pid, Port, Reference, Term};
