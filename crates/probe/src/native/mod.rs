//! Native code of the node and of the kernel:
//!
//! * names from symbol tables: [`names`], [`debug_file`], [`recorded`] for recordings of other programs;
//! * starts and names of functions without a symbol: [`stripped`], [`function_starts`], [`known_builds`];
//! * code that a debug file would name: [`unnamed`];
//! * unwinding: [`unwind`].

mod debug_file;
mod function_starts;
mod kernel_names;
mod known_builds;
mod limits;
mod name_sources;
mod names;
mod native_name;
mod recorded;
mod recorded_files;
mod running_kernel;
mod stripped;
mod unnamed;
mod unwind;

pub use debug_file::build_id;
pub use name_sources::files_without_names;
pub use recorded::RecordedNames;
pub use unnamed::{DebugFileError, MissingDebugFile, UnnamedCode};

pub(crate) use name_sources::{NameSource, NamedFile, has_names, named_files, package_of};
pub(crate) use names::NativeNames;
pub(crate) use native_name::NativeName;
pub(crate) use unwind::{Alignment, Step, Tables, UNUSED_MODULE, Update, Walker};

#[cfg(fuzzing)]
pub(crate) use unwind::fuzz as fuzz_unwind;
