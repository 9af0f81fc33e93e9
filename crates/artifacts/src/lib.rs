//! Files that the program writes and reads again.
//!
//! - [`rundir`]: the directory of a run.
//! - [`archive`]: the windows of `watch`.
//! - [`mod@format`] and [`source`]: profiles, written and read in every format.
//! - [`salvage`]: results that could not be written.
//!
//! Nothing here puts load on a broker, records, or asks a node.

pub mod archive;
pub mod format;
pub mod rundir;
pub mod salvage;
pub mod source;
