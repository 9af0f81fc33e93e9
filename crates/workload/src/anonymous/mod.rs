//! Numbers in place of names, before anything is modelled.
//!
//! ```text
//! words     names word by word: each word and each number gets another one, everywhere the same
//! renaming  all names of flows and objects
//! policies  patterns of policies, as the new names that they match
//! ```
//!
//! Virtual hosts, users and consumer tags are in no scenario.

mod policies;
mod renaming;
mod words;

pub use renaming::anonymous;
