//! Native code of the node and of the kernel: names from symbol tables ([`names`]), and where a
//! function begins when there is no symbol for it ([`function_starts`]).

mod function_starts;
mod names;

pub(crate) use names::{NativeName, NativeNames};
