//! The part of the page that grows with the number of stacks, as bytes: see [`layout`].

mod decode;
mod encode;
pub(crate) mod layout;
mod numbers;
mod packing;
#[cfg(test)]
mod tests;

pub use decode::ColumnsError;
pub(crate) use layout::{Columns, Record};
