//! Workbench of the integration tests. Only `[dev-dependencies]` name this crate.
//!
//! A test makes a [`Workbench`], starts the program and brokers there, and reads the files that they leave.
//! [`scenario`] builds scenarios. Everything ends with the test, even if it fails.

#![expect(clippy::unwrap_used, reason = "a test that fails may panic")]

mod brokers;
mod clients;
mod conditions;
mod driver;
mod erlang;
mod machine;
mod other_client;
mod own_broker;
mod program;
mod records;
pub mod scenario;
mod servers;
mod workbench;

pub use brokers::{
    add_user, basic_authentication, broker_with, close_connections, connection_to, declare_queue,
    delete_queue, depth, evaluate, exchanges_on, existing_broker, load_module, node_options,
    permit, plant, port_of, purge_queue, queues_on,
};
pub use clients::{
    connect, consume, durable_queue, encode_frame, http, mqtt_client, take, with_length,
};
pub use conditions::{eventually, is_root, may_profile, missing_program, not_run, path_of, within};
pub use driver::compile_driver;
pub use erlang::PUBLISH;
pub use machine::{
    Network, PYTHON, SmallDisk, certificates, environment, free_address, free_port, holds,
    kernel_programs_of, pause, pid, processes_naming, processes_showing, tls_listener, token,
    trust_tokens,
};
pub use other_client::{OtherClient, RunningClient};
pub use own_broker::{OwnBroker, own_broker};
pub use program::{Ended, Ends, Stops, signal};
pub use records::{count, find, latency, latency_figure};
pub use servers::{Forwarder, Receiver, Served, Server};
pub use workbench::{Workbench, files_below, lines, program, repository};
