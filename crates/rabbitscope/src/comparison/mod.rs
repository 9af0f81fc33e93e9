//! Two profiles from files, or two finished runs, compared: as a page, as a table, as JSON.

mod compare;
mod page;
mod record;
mod runs;
mod text;

pub(crate) use self::page::DiffPage;
pub(crate) use compare::Comparison;
use compare::{ComparedProfile, MessageCost};
pub(crate) use runs::RunPair;
