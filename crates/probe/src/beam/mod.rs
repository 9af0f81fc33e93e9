//! The VM's own tables, read out of its memory: release and offsets of its structures ([`emulator`], [`layout`],
//! [`calibration`]), JIT code ([`jit`], [`code_map`]), functions and BIFs ([`function_names`], [`bif`]), processes
//! ([`pids`], [`resumption`]).
//!
//! Nothing here runs in the node or writes to it.

mod bif;
mod calibration;
mod call_fragments;
mod code_map;
mod emulator;
mod function_names;
mod jit;
mod layout;
mod pids;
mod resumption;

pub(crate) use bif::{CalledBif, called_bif};
pub(crate) use calibration::check_layout;
pub(crate) use call_fragments::{CALL_BIF, CALL_LIGHT_BIF, CALL_NIF};
pub(crate) use code_map::{CodeMap, SourceLine};
pub(crate) use emulator::{Emulator, SchedulerBlock};
pub(crate) use function_names::{CodeMfa, FunctionNames, offset_of_current};
pub(crate) use layout::Layout;
pub(crate) use pids::Pids;
pub(crate) use resumption::{SCHEDULE, offset_of_resumption};

#[cfg(fuzzing)]
pub(crate) use jit::parse as parse_blob;
