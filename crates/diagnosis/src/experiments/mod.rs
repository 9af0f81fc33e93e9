//! Experiments that show the effect of a finding's change on a throwaway broker.
//!
//! ```text
//! case, finding ──► focus ──► observed ──► load ──► table ──► proof ──► text   a scenario and an experiment
//!                    which queues          │          │
//!                    and channels          ▼          ▼
//!                              a scenario's figures   arms and metric of each rule
//! ```
//!
//! A load is like the observed one, but smaller: `load` has the bounds. It has no names of queues or clients.
//! `rabbitscope experiment` runs the files.

mod arm;
mod clients;
mod file;
mod focus;
mod load;
mod node;
mod observed;
mod publishers;
mod readers;
mod settings;
mod table;
#[cfg(test)]
mod tests;
mod text;

pub use file::{ExperimentFile, experiments};
