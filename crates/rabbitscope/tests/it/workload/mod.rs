//! Loads with known figures, their packets, and the scenario that `workload` writes of them.

mod amqp10;
mod comparing;
mod mqtt;
mod observing;
mod planted;
mod refusals;
mod round_trips;
mod routes;
mod streams;
mod variants;
