//! `[broker]` as it is written.

use serde::{Deserialize, Serialize};

use crate::{
    scenario::{
        connecting::{Connecting, Recovery},
        model::BrokerSpec,
    },
    units::display_duration,
};

#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(in crate::scenario) struct Broker {
    pub(in crate::scenario) uri: Option<String>,
    pub(in crate::scenario) plugins: Option<Vec<String>>,
    pub(in crate::scenario) config: Option<String>,
    pub(in crate::scenario) advanced_config: Option<String>,
    pub(in crate::scenario) erl_args: Option<String>,
    pub(in crate::scenario) recovery: Option<bool>,
    pub(in crate::scenario) recovery_delay: Option<String>,
    pub(in crate::scenario) recovery_max_delay: Option<String>,
    pub(in crate::scenario) recovery_timeout: Option<String>,
}

impl Broker {
    /// Which broker, and how connections to it are made.
    pub(super) fn of(broker: &BrokerSpec, connecting: &Connecting) -> Self {
        let recovery = connecting.recovery;
        let time = |of: fn(Recovery) -> std::time::Duration| {
            recovery.map(|recovery| display_duration(of(recovery)).to_string())
        };
        let common = Self {
            recovery: Some(recovery.is_some()),
            recovery_delay: time(|recovery| recovery.delay),
            recovery_max_delay: time(|recovery| recovery.max_delay),
            recovery_timeout: time(|recovery| recovery.timeout),
            ..Self::default()
        };
        match broker {
            BrokerSpec::Existing { uri } => Self { uri: Some(without_password(uri)), ..common },
            BrokerSpec::Throwaway(broker) => Self {
                plugins: Some(broker.plugins.clone()),
                config: Some(broker.config.clone()),
                advanced_config: Some(broker.advanced_config.clone()),
                erl_args: Some(broker.erl_args.clone()),
                ..common
            },
        }
    }
}

/// Cuts from the first `:` after the scheme to the last `@`, so that even a URI that is not valid
/// cannot leak its password.
fn without_password(uri: &str) -> String {
    let start = uri.find("://").map_or(0, |at| at + 3);
    match uri.rfind('@') {
        Some(end) if end > start => {
            let user = uri[start..end].split(':').next().unwrap_or_default();
            format!("{}{user}{}", &uri[..start], &uri[end..])
        }
        _ => uri.to_owned(),
    }
}
