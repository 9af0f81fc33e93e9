//! Commands that put load on a broker, and their shared parts.

mod broker_uri;
mod consent;
mod exit_code;
pub(super) mod find_rate;
mod fleet_args;
mod live_page;
pub(super) mod load;
mod own_broker;
pub(super) mod run;
mod run_options;
pub(super) mod serve;
pub(super) mod worker;

pub(super) use broker_uri::replace;
pub(super) use consent::ConsentArgs;
pub(super) use run::{URI_VARIABLE, read_scenario};
