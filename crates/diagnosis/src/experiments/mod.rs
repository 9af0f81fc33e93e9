//! Experiments that show the effect of a finding's change on a throwaway broker.
//!
//! ```text
//! case, finding ──► focus ──► observed ──► load ──► table ──► proof ──► text   a scenario and an experiment
//!                    which queues          │          │
//!                    and channels          ▼          ▼
//!                              a scenario's figures   arms and metric of each rule
//! ```
//!
//! Where packets show the observed load itself, `base` has its scenario, and `placed` finds the groups in it that the
//! arms change. Else a load is like the observed one, but smaller: `load` has the bounds. That one has no names of queues
//! or clients. `rabbitscope experiment` runs the files.

mod arm;
mod base;
mod clients;
mod file;
mod focus;
mod load;
mod node;
mod observed;
mod placed;
mod publishers;
mod readers;
mod settings;
mod table;
#[cfg(test)]
mod tests;
mod text;

pub use base::BaseScenario;
pub use file::{ExperimentFile, experiments};
