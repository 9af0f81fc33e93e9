//! Rules: problems that a case shows, each with its evidence and the change that removes it.
//!
//! ```text
//! table ──► rule ──► draft ──► judgement   findings ranked, healthy subjects, rules that could not judge
//!             ▲
//! broker, flow, clients, queues, vm, host  one rule in each file
//! wire                                     findings about packets, converted
//! bound, attribution                       upper bounds of gains; CPU of shared processes by queue
//! look, names, config, version             words, names and settings that rules have in common
//! reference                                the page that lists all rules
//! ```

mod attribution;
mod bound;
mod broker;
mod clients;
mod config;
mod draft;
mod flow;
mod host;
mod judgement;
mod look;
pub(crate) mod names;
mod queues;
mod reference;
mod rule;
mod table;
#[cfg(test)]
pub(crate) mod tests;
mod unjudged;
mod version;
mod vm;
mod wire;

pub use attribution::{Attribution, QueueShare, attribute};
pub use judgement::{Judgement, judge};
pub use names::queue as queue_title;
pub use reference::reference;
pub use unjudged::Unjudged;
