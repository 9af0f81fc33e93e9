//! The configuration file of `watch`: as it is written ([`wire`]), what is valid ([`options`]), and the way between
//! ([`read`], [`scraping`]), on which options of the command line are added.

mod options;
mod pattern;
mod read;
mod scraping;
mod wire;

pub(crate) use options::{DirectoryOptions, InsideOptions, ScrapeOptions, WatchOptions};
pub(crate) use read::{ConfigSource, TypedOptions};
