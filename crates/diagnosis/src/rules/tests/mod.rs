//! Tests of rules: each finds its planted problem, finds nothing in a healthy node, and does not judge on too little.

mod attribution;
mod broker;
mod cases;
mod checks;
mod clients;
mod flow;
mod host;
mod order;
mod properties;
mod queues;
pub(crate) mod random;
mod reference;
mod rows;
mod vm;
mod wire;
