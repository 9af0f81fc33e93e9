//! Live tests of the program: the built binary against the distribution's own RabbitMQ.

#![expect(clippy::unwrap_used, reason = "a test that fails may panic")]

mod architecture;
mod brokers;
mod churn;
mod emptying;
mod ending;
mod handling;
mod inside;
mod leaving;
mod loads;
mod logins;
mod owners;
mod pace;
mod polling;
mod profiles;
mod queue_info;
mod queues;
mod recovery;
mod routers;
mod routing;
mod rpc;
mod runs;
mod tops;
mod usage;
mod verification;
mod watching;
mod workbench;
