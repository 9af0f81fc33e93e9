//! One run of a scenario, from the broker to the run directory.
//!
//! - [`run`]: its steps in order.
//! - [`fit`]: the parts of a load that do not fit the machine.
//! - [`progress`]: every second of it as it happens, for people and files.
//! - [`leftovers`]: what killed runs left on brokers.
//! - [`report`]: the report of a run directory, with the limit of the run.
//! - [`fleet`]: the workers of a run whose load several processes generate.
//!
//! Elsewhere: the load, the profiler, the packets; what several runs say together (`experiments`).

pub mod fit;
pub mod fleet;
pub mod leftovers;
pub mod progress;
pub mod report;
pub mod run;
