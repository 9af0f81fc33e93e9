//! Finds out of the running VM how its structures are laid out, so that no release has to be known beforehand.
//!
//! Four sources, each with a file: the instructions of shared JIT code, which load and store the fields
//! ([`shared_code`]); the processes themselves, whose stacks all end in the same way ([`processes`]); the blocks of
//! the schedulers, which are numbered as their threads are ([`schedulers`]); and the executable's own data, in which
//! the tables begin ([`static_data`], [`jit_list`], [`bif_table`]). Where an emulator exports a variable, its
//! address is taken from there; otherwise the data is searched for something that only this variable can be.
//!
//! A reading that is not the only one possible is refused with all that were seen ([`Unclear`]).

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
