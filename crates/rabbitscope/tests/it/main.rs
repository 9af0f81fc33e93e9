//! Live tests of the program: the built binary against the distribution's own RabbitMQ. A folder for each product and
//! feature.

#![expect(clippy::unwrap_used, reason = "a test that fails may panic")]

mod amqp10;
mod architecture;
mod brokers;
mod check;
mod command_line;
mod documents;
mod experiments;
mod fleets;
mod inside;
mod leftovers;
mod live;
mod load;
mod losses;
mod mqtt;
mod packets;
mod perftest;
mod profile;
mod protocols;
mod runs;
mod safety;
mod streams;
mod watch;
mod workload;
