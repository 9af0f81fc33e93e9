//! The runs and experiments below a directory, and the trends of their figures.

mod entry;
mod facts;
mod figure;
mod scan;
mod trend;

pub(crate) use entry::{Contents, Entry};
pub(crate) use facts::{ExperimentFacts, RunFacts};
pub(crate) use figure::Figure;
pub(crate) use scan::{Listing, is_page, scan};
pub(crate) use trend::{Change, Trend, trends};
