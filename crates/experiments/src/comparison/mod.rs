//! The comparison of two profiles or of two finished runs, as a page, a table or JSON.

mod compare;
mod page;
mod record;
mod runs;
mod text;

pub(crate) use self::page::DiffPage;
pub(crate) use compare::Comparison;
use compare::{ComparedProfile, MessageCost};
pub(crate) use runs::RunPair;
