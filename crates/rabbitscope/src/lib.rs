//! The program: commands, runs, run directories, throwaway brokers.
//!
//! It combines load, probe and report. Elsewhere: the load itself, the probes, and any drawing.

pub mod capacity;
pub mod commands;
mod continuous;
pub mod exit;
pub mod experiment;
mod fleet;
pub mod interrupt;
pub mod leftovers;
pub mod output;
mod packets;
pub mod run;
pub mod rundir;
pub mod usage;
pub mod watch;

mod archive;
mod comparison;
mod debuginfod;
mod format;
mod input;
mod salvage;
mod source;
