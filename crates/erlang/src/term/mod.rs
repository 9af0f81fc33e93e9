//! Erlang terms as values: made, taken apart, printed; their external form.
//!
//! What deliberately does not live here: what a term means to anybody.

mod decode;
mod encode;
mod print;
mod tag;
mod value;

pub use decode::{Limits, TermError, decode, decode_first};
pub use encode::encode;
pub use value::{Atom, BigInteger, Opaque, Pid, Port, Reference, Term};
