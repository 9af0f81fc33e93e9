//! A page as input: its elements, and the profile in them. A comparison has no profile.

mod elements;
mod profile;
#[cfg(test)]
mod tests;

pub use elements::PageError;
pub use profile::{is_page, read_page_with};
