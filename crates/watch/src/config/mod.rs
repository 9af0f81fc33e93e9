//! The configuration file of `watch`. [`wire`] is its written form and [`options`] its validated form. [`read`] and
//! [`scraping`] convert, and add the options of the command line.

mod options;
mod pattern;
mod read;
mod scraping;
mod wire;

pub(crate) use options::{DirectoryOptions, InsideOptions, ScrapeOptions, WatchOptions};
pub use read::{ConfigSource, TypedOptions};
