//! `[broker]` as written.

use std::{collections::BTreeMap, fmt, time::Duration};

use serde::{Deserialize, Serialize};

use super::{Allocation, Auth, BrokerSpec, Connecting, Parameter, Policy, Tls};
use crate::scenario::model::values::{size, span};

/// The keys of `[broker]`: those of an existing broker, of a throwaway broker, and of connections to both.
#[derive(Clone, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(in crate::scenario) struct Broker {
    pub(in crate::scenario) uri: Option<String>,
    pub(in crate::scenario) uris: Option<Vec<String>>,
    #[serde(default)]
    pub(in crate::scenario) allocation: Allocation,
    #[serde(default)]
    pub(in crate::scenario) auth: AuthKind,
    pub(in crate::scenario) token_file: Option<String>,
    #[serde(default, with = "span")]
    pub(in crate::scenario) connect_timeout: Option<Duration>,
    pub(in crate::scenario) connect_parallel: Option<u32>,
    pub(in crate::scenario) connect_rate: Option<f64>,
    #[serde(default, with = "span")]
    pub(in crate::scenario) startup_timeout: Option<Duration>,
    pub(in crate::scenario) nodelay: Option<bool>,
    #[serde(default, with = "size")]
    pub(in crate::scenario) send_buffer: Option<u32>,
    #[serde(default, with = "size")]
    pub(in crate::scenario) receive_buffer: Option<u32>,
    pub(in crate::scenario) nodes: Option<u32>,
    pub(in crate::scenario) cluster: Option<bool>,
    pub(in crate::scenario) plugins: Option<Vec<String>>,
    pub(in crate::scenario) plugins_directory: Option<String>,
    pub(in crate::scenario) config: Option<String>,
    pub(in crate::scenario) advanced_config: Option<String>,
    pub(in crate::scenario) erl_args: Option<String>,
    pub(in crate::scenario) root: Option<String>,
    pub(in crate::scenario) patches: Option<Vec<String>>,
    pub(in crate::scenario) modules: Option<Vec<String>>,
    #[serde(default)]
    pub(in crate::scenario) recovery: bool,
    #[serde(default, with = "span")]
    pub(in crate::scenario) recovery_delay: Option<Duration>,
    #[serde(default, with = "span")]
    pub(in crate::scenario) recovery_max_delay: Option<Duration>,
    #[serde(default, with = "span")]
    pub(in crate::scenario) recovery_timeout: Option<Duration>,
    // TOML needs tables after all plain values.
    pub(in crate::scenario) environment: Option<BTreeMap<String, String>>,
    pub(in crate::scenario) policies: Option<Vec<Policy>>,
    pub(in crate::scenario) parameters: Option<Vec<Parameter>>,
    #[serde(default, skip_serializing_if = "Tls::is_default")]
    pub(in crate::scenario) tls: Tls,
}

/// URIs may carry a password.
impl fmt::Debug for Broker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[broker]")
    }
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::scenario) enum AuthKind {
    #[default]
    Plain,
    External,
    Anonymous,
    Token,
}

impl Broker {
    /// Writes the broker and the settings of connections to it.
    pub(super) fn new(broker: &BrokerSpec, connecting: &Connecting) -> Self {
        let common = Self::common(connecting);
        match broker {
            BrokerSpec::Existing { uris } => match &uris[..] {
                [uri] => Self { uri: Some(without_password(uri)), ..common },
                uris => {
                    let uris = uris.iter().map(|uri| without_password(uri)).collect();
                    Self { uris: Some(uris), ..common }
                }
            },
            BrokerSpec::Throwaway(broker) => Self {
                nodes: some_unless(&broker.nodes, broker.nodes == 1),
                cluster: some_unless(&broker.is_cluster, broker.is_cluster),
                plugins: Some(broker.plugins.clone()),
                plugins_directory: Some(broker.plugins_directory.clone()),
                config: Some(broker.config.clone()),
                advanced_config: Some(broker.advanced_config.clone()),
                erl_args: Some(broker.erl_args.clone()),
                root: some_unless(&broker.root, broker.root.is_empty()),
                patches: some_unless(&broker.patches, broker.patches.is_empty()),
                modules: some_unless(&broker.modules, broker.modules.is_empty()),
                environment: some_unless(&broker.environment, broker.environment.is_empty()),
                policies: some_unless(&broker.policies, broker.policies.is_empty()),
                parameters: some_unless(&broker.parameters, broker.parameters.is_empty()),
                ..common
            },
        }
    }

    fn common(connecting: &Connecting) -> Self {
        let recovery = connecting.recovery;
        let (auth, token_file) = match &connecting.auth {
            Auth::Plain => (AuthKind::Plain, None),
            Auth::External => (AuthKind::External, None),
            Auth::Anonymous => (AuthKind::Anonymous, None),
            Auth::Token { file } => (AuthKind::Token, Some(file.clone())),
        };
        Self {
            allocation: connecting.allocation,
            auth,
            token_file,
            connect_timeout: Some(connecting.timeout),
            connect_parallel: Some(connecting.parallel),
            connect_rate: connecting.rate,
            startup_timeout: connecting.startup_timeout,
            nodelay: Some(connecting.nodelay),
            send_buffer: connecting.send_buffer_bytes,
            receive_buffer: connecting.receive_buffer_bytes,
            recovery: recovery.is_some(),
            recovery_delay: recovery.map(|recovery| recovery.delay),
            recovery_max_delay: recovery.map(|recovery| recovery.max_delay),
            recovery_timeout: recovery.map(|recovery| recovery.timeout),
            tls: connecting.tls.clone(),
            ..Self::default()
        }
    }
}

/// Returns a value for a rare key, which is written only if it is set.
fn some_unless<T: Clone>(value: &T, is_unset: bool) -> Option<T> {
    (!is_unset).then(|| value.clone())
}

/// Removes the text from the first `:` after the scheme to the last `@`, so that even an invalid URI cannot leak its
/// password.
fn without_password(uri: &str) -> String {
    let start = uri.find("://").map_or(0, |start| start + 3);
    match uri.rfind('@') {
        Some(end) if end > start => {
            let user = uri[start..end].split(':').next().unwrap_or_default();
            format!("{}{user}{}", &uri[..start], &uri[end..])
        }
        _ => uri.to_owned(),
    }
}
