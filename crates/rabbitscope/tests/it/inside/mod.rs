//! Commands that look inside a node: `queues`, `top`, `memory`, `process`, `trace` and its relatives; the plugin.

mod check_reading;
mod clusters;
mod impostors;
mod memory;
mod passwords;
mod plugin;
mod plugin_queues;
mod plugin_users;
mod protocols;
mod queues;
pub(crate) mod remains;
mod restarts;
mod top;
mod top_unknowns;
mod tracers;
