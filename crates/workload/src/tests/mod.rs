//! Loads of known clients, from their events to the scenario.

mod anonymous;
mod clients;
mod groups;
mod hosts;
mod likeness;
mod links;
mod mqtt;
mod random;
mod readers;
mod relays;
mod requests;
mod scaling;
mod secrets;
mod statistics;
mod talk;
mod turns;

pub(crate) use random::exponential;
