//! The comparison of two profiles or of two finished runs, as a page, a table or JSON.

mod compare;
mod page;
mod record;
mod runs;
mod text;

pub use self::page::DiffPage;
pub use compare::Comparison;
use compare::{ComparedProfile, MessageCost};
pub use record::ChangeRecord;
pub use runs::RunPair;
