//! Discovers the layout of the VM's structures in the running VM, so that no release has to be known in advance.
//!
//! Four sources, each with a file:
//!
//! * [`shared_code`]: instructions of shared JIT code, which load and store the fields.
//! * [`processes`]: the processes, whose stacks all end in the same way.
//! * [`schedulers`]: the blocks of the schedulers, which have the same numbers as their threads.
//! * [`static_data`], [`jit_list`], [`bif_table`]: the executable's own data, in which the tables begin.
//!
//! If an emulator exports a variable, the export has its address. Otherwise the search looks in the data for a
//! value that only this variable can have.
//!
//! An ambiguous reading is refused, with all readings in the message ([`Unclear`]).

mod bif_table;
mod discover;
mod evidence;
mod exports;
mod jit_list;
mod polling;
mod processes;
mod release;
mod schedulers;
mod shared_code;
mod static_data;

#[cfg(fuzzing)]
mod fuzz;
#[cfg(any(test, fuzzing))]
mod image;
#[cfg(test)]
mod live_tests;
#[cfg(test)]
mod tests;

pub(super) use discover::{Discovered, SchedulerBases, discover};
pub(super) use evidence::{Evidence, Unclear};
pub(super) use exports::Exports;
#[cfg(fuzzing)]
pub(crate) use fuzz::altered_memory;
pub(super) use jit_list::find_jit_list;
pub(super) use polling::Looks;
pub(super) use release::{Release, release_of};
pub(super) use static_data::StaticData;
