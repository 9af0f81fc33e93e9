//! Live tests of the program: the built binary against the distribution's own RabbitMQ.

#![expect(clippy::unwrap_used, reason = "a test that fails may panic")]

mod architecture;
mod brokers;
mod churn;
mod emptying;
mod ending;
mod faults;
mod files;
mod forwarder;
mod full_disk;
mod handling;
mod impostors;
mod inside;
mod installed;
mod leaving;
mod leftovers;
mod listening;
mod loads;
mod logins;
mod owners;
mod pace;
mod perf_test;
mod polling;
mod privileges;
mod profiles;
mod queue_info;
mod queues;
mod recovery;
mod routers;
mod routing;
mod rpc;
mod runs;
mod secrets;
mod slow_clients;
mod stalls;
mod terminals;
mod tops;
mod tracers;
mod usage;
mod verification;
mod watching;
mod workbench;
