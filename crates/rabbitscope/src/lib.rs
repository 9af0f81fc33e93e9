//! The program: its command line, commands and exit codes.
//!
//! A command combines the libraries and does no work of its own.

pub mod commands;
pub mod exit;
pub mod interrupt;
pub mod refusal;
