//! Files of others, which are read with care, and files of the program, which are written where the caller meant.
//!
//! [`open`] and what stands beside it read what somebody else named. [`Directory`] holds a directory that no other user
//! can exchange for another one, [`AtomicFile`] puts a whole file there, and [`FileMode`] says who may read it. What the
//! bytes mean is the business of the callers.

mod atomic_file;
mod directory;
mod error;
mod inputs;
mod lock;
mod mode;
mod reading;
mod source;
mod trust;
mod walk;

pub use atomic_file::{AtomicFile, start, write};
pub use directory::{Directory, random_digits};
pub use error::WriteError;
pub use inputs::replaced_input;
pub use lock::{LockError, lock, unseen_by_others};
pub use mode::FileMode;
pub use reading::{MAX_TEXT_BYTES, SymbolicLinks, open, open_with, read, read_all, read_text};
pub use source::SourceDirectory;
