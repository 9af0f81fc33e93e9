//! The VM's own tables, read out of its memory:
//!
//! * offsets of its structures: [`discovery`], [`layout`], [`emulator`], [`calibration`];
//! * JIT code: [`jit`], [`code_map`];
//! * functions and BIFs: [`function_names`], [`bif`], [`mod@native_functions`];
//! * processes: [`pids`], [`mod@resumption`].
//!
//! This module runs no code in the node and writes nothing to it.

mod bif;
mod calibration;
mod call_fragments;
mod code_map;
mod discovery;
mod emulator;
mod function_names;
mod jit;
mod layout;
mod native_functions;
mod pids;
mod resumption;
mod texts;
mod words;

pub(crate) use bif::{CalledBif, called_bif};
pub(crate) use calibration::check_layout;
pub(crate) use call_fragments::{CALL_BIF, CALL_LIGHT_BIF, CALL_NIF};
pub(crate) use code_map::{CodeMap, SourceLine};
pub(crate) use emulator::{Emulator, Inspected, SchedulerBlock, emulator_text, inspect};
pub(crate) use function_names::{CodeMfa, FunctionNames, offset_of_current};
pub(crate) use native_functions::{
    FunctionPlace, NativeFunction, SCHEDULE_FUNCTION, native_functions,
};
pub(crate) use pids::Pids;
pub(crate) use resumption::{Resumption, SCHEDULE, resumption};

#[cfg(fuzzing)]
pub(crate) use discovery::altered_memory;
#[cfg(fuzzing)]
pub(crate) use jit::parse as parse_blob;
