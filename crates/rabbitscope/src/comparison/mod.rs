//! Two profiles from files, compared: as a page, as a table, as JSON.

mod compare;
mod page;
mod record;
mod text;

pub(crate) use self::page::DiffPage;
pub(crate) use compare::Comparison;
use compare::{ComparedProfile, MessageCost};
