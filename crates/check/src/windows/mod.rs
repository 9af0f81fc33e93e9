//! Windows of `watch` as a case: CPU samples, and times off the CPU if they were recorded.
//!
//! Elsewhere: the figures of the node that `watch` asks for (`watch` itself), and the files (`artifacts`).

mod profiles;
mod span;

pub use profiles::case_of_profiles;
pub use span::read_windows;
