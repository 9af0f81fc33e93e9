//! Careful reading of files named by others, and writing of the program's own files in exactly the intended place.
//!
//! [`open`] and its siblings read files that others named. [`Directory`] holds a directory that no other user can
//! exchange, [`AtomicFile`] puts a whole file there, and [`FileMode`] sets its permissions. The callers interpret the
//! bytes.

mod atomic_file;
mod directory;
mod error;
pub mod input;
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
pub use reading::{
    MAX_TEXT_BYTES, SymbolicLinks, open, open_in_root, open_with, read, read_all, read_text,
};
pub use source::{Entries, SourceDirectory};
