//! Live tests of the program: the built binary against the distribution's own RabbitMQ.

#![expect(clippy::unwrap_used, reason = "a test that fails may panic")]

mod all_day;
mod architecture;
mod breakdown;
mod brokers;
mod churn;
mod cluster_faults;
mod clusters;
mod debuginfod;
mod emptying;
mod ending;
mod experiments;
mod faults;
mod files;
mod fleets;
mod foreign_profiles;
mod forwarder;
mod full_disk;
mod handling;
mod impostors;
mod inside;
mod installed;
mod kept_files;
mod leaving;
mod leftovers;
mod listening;
mod loads;
mod logins;
mod outages;
mod owners;
mod pace;
mod packets;
mod perf_test;
mod perftest_words;
mod planted;
mod plugin;
mod polling;
mod privileges;
mod profiles;
mod protocols;
mod publishing;
mod queue_info;
mod queues;
mod readme;
#[path = "../../../export/tests/it/receiver.rs"]
mod receiver;
mod recovery;
mod restarts;
mod routers;
mod routing;
mod rpc;
mod runs;
mod secrets;
#[path = "../../../export/tests/it/servers.rs"]
#[expect(dead_code, reason = "the tests of export need more of it")]
mod servers;
mod several_brokers;
mod sinks;
mod slow_clients;
mod stalls;
mod stopping;
mod stream_offsets;
mod terminals;
mod top_truths;
mod tops;
mod tracers;
mod usage;
mod verification;
mod watching;
mod workbench;
