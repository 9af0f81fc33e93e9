//! The load of a running node as a scenario.
//!
//! Data goes one way:
//!
//! ```text
//! observe   events of `wire` ─► flows      a publisher or reader of a channel, with counted figures
//! statistics counts of the node ─► flows of clients whose packets cannot be read
//! topology  definitions, events ─► objects exchanges, queues, bindings, policies
//! renaming  all names of flows and objects
//! anonymous names ─► numbers          before anything is modelled, if wanted
//! groups    flows, objects ─► groups       clients that behave alike; open or closed loop; patterns of names
//! text      groups, objects ─► scenario    TOML with a comment on the origin of each group
//! turns     flows ─► publishers that wait for answers, polled queues, busy readers
//! likeness  groups of a source and of a run ─► differences, with bars and noise
//! figures   histograms and samples, which all of them use
//! ```
//!
//! No code here reads a clock, a network or a disk. Memory is bounded: flows, names and samples have limits, and the
//! result says what was left out. No body, password or value of a header is kept.

mod anonymous;
mod figures;
mod groups;
mod likeness;
mod observe;
mod renaming;
mod statistics;
#[cfg(test)]
mod tests;
mod text;
mod topology;
mod turns;

pub use anonymous::anonymous;
pub use groups::{Model, Scale, model};
pub use likeness::{
    Figure, Likeness, Measurements, MeasurementsError, ProfileShares, Verdict, compare,
};
pub use observe::{Flows, Observer};
pub use statistics::{Counted, Traffic};
pub use text::{Origin, RunLength, scenario};
pub use topology::{DefinitionsError, NodeFacts, Topology};
