//! Workbench of the integration tests. Only `[dev-dependencies]` name this crate.
//!
//! A test makes a [`Workbench`], starts the program and brokers there, and reads the files that they leave.
//! [`scenario`] builds scenarios. Everything ends with the test, even if it fails.

#![expect(clippy::unwrap_used, reason = "a test that fails may panic")]

mod amqp;
mod brokers;
mod certificates;
mod conditions;
mod driver;
mod erlang;
mod forwarder;
pub mod http;
mod mqtt;
mod network;
mod ports;
mod processes;
mod program;
mod python;
mod receiver;
mod records;
pub mod scenario;
mod served;
mod servers;
mod small_disk;
mod workbench;

pub use amqp::{connect, consume, durable_queue, encode_frame, take, with_length};
pub use brokers::{
    add_user, basic_authentication, broker_with, close_connections, connection_to, declare_queue,
    delete_queue, depth, evaluate, exchanges_on, existing_broker, load_module, node_options,
    own_broker, permit, plant, port_of, purge_queue, queues_on,
};
pub use certificates::{certificates, tls_listener};
pub use conditions::{eventually, is_root, may_profile, missing_program, not_run, path_of, within};
pub use driver::compile_driver;
pub use erlang::PUBLISH;
pub use forwarder::Forwarder;
pub use mqtt::mqtt_client;
pub use network::Network;
pub use ports::{free_address, free_port};
pub use processes::{holds, kernel_programs_of, pause, pid, processes_naming, processes_showing};
pub use program::{Ended, Ends, Stops, signal};
pub use python::{PYTHON, environment};
pub use receiver::Receiver;
pub use records::{count, find, latency, latency_figure};
pub use served::Served;
pub use servers::Server;
pub use small_disk::SmallDisk;
pub use workbench::{Workbench, files_below, lines, program, repository};
