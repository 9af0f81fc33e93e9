//! The program: throwaway broker, run directory, commands.
//!
//! What lives here: everything that combines load, probe and report. What deliberately does not:
//! the load itself, the probes, any drawing.

pub mod broker;
