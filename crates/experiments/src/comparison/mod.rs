//! The comparison of two profiles or of two finished runs, as a page, a table or JSON.

mod compare;
mod page;
mod record;
mod runs;
mod text;

pub use self::page::DiffPage;
use compare::ComparedProfile;
pub use compare::Comparison;
pub use record::ChangeRecord;
pub use runs::{pair_in_words, read_pair};
