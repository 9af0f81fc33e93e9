//! Erlang terms: values, printing, and the external form.
//!
//! What deliberately does not live here: the meaning of any term.

mod decode;
mod encode;
mod print;
mod tag;
mod value;

pub use decode::{Limits, TermError, decode, decode_first};
pub use encode::encode;
pub use value::{Atom, BigInteger, Opaque, Pid, Port, Reference, Term};
