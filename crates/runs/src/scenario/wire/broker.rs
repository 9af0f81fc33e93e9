//! `[broker]` as written.

use std::{collections::BTreeMap, time::Duration};

use rabbitscope_text::{display_duration, display_size};
use serde::{Deserialize, Serialize};

use crate::scenario::{
    connecting::{self, Allocation, Auth, Connecting, Recovery},
    model::{BrokerSpec, Parameter, Policy},
};

#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(in crate::scenario) struct Broker {
    pub(in crate::scenario) uri: Option<String>,
    pub(in crate::scenario) uris: Option<Vec<String>>,
    pub(in crate::scenario) allocation: Option<Allocation>,
    pub(in crate::scenario) auth: Option<AuthKind>,
    pub(in crate::scenario) token_file: Option<String>,
    pub(in crate::scenario) connect_timeout: Option<String>,
    pub(in crate::scenario) connect_parallel: Option<u32>,
    pub(in crate::scenario) connect_rate: Option<f64>,
    pub(in crate::scenario) startup_timeout: Option<String>,
    pub(in crate::scenario) nodelay: Option<bool>,
    pub(in crate::scenario) send_buffer: Option<String>,
    pub(in crate::scenario) receive_buffer: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) nodes: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) cluster: Option<bool>,
    pub(in crate::scenario) plugins: Option<Vec<String>>,
    pub(in crate::scenario) plugins_directory: Option<String>,
    pub(in crate::scenario) config: Option<String>,
    pub(in crate::scenario) advanced_config: Option<String>,
    pub(in crate::scenario) erl_args: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) root: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) patches: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) modules: Option<Vec<String>>,
    pub(in crate::scenario) recovery: Option<bool>,
    pub(in crate::scenario) recovery_delay: Option<String>,
    pub(in crate::scenario) recovery_max_delay: Option<String>,
    pub(in crate::scenario) recovery_timeout: Option<String>,
    // TOML needs tables after all plain values.
    pub(in crate::scenario) environment: Option<BTreeMap<String, String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) policies: Option<Vec<Policy>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) parameters: Option<Vec<Parameter>>,
    pub(in crate::scenario) tls: Option<Tls>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::scenario) enum AuthKind {
    Plain,
    External,
    Token,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(in crate::scenario) struct Tls {
    pub(in crate::scenario) ca: Option<String>,
    pub(in crate::scenario) cert: Option<String>,
    pub(in crate::scenario) key: Option<String>,
    pub(in crate::scenario) server_name: Option<String>,
    pub(in crate::scenario) verify: Option<bool>,
}

impl Broker {
    /// Writes the broker and the settings of connections to it.
    pub(super) fn from_spec(broker: &BrokerSpec, connecting: &Connecting) -> Self {
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
                nodes: some_unless(broker.nodes, broker.nodes == 1),
                cluster: some_unless(broker.is_cluster, broker.is_cluster),
                plugins: Some(broker.plugins.clone()),
                plugins_directory: Some(broker.plugins_directory.clone()),
                config: Some(broker.config.clone()),
                advanced_config: Some(broker.advanced_config.clone()),
                erl_args: Some(broker.erl_args.clone()),
                root: some_unless(broker.root.clone(), broker.root.is_empty()),
                patches: some_unless(broker.patches.clone(), broker.patches.is_empty()),
                modules: some_unless(broker.modules.clone(), broker.modules.is_empty()),
                environment: some_unless(broker.environment.clone(), broker.environment.is_empty()),
                policies: some_unless(broker.policies.clone(), broker.policies.is_empty()),
                parameters: some_unless(broker.parameters.clone(), broker.parameters.is_empty()),
                ..common
            },
        }
    }

    fn common(connecting: &Connecting) -> Self {
        let recovery = connecting.recovery;
        let time = |of: fn(Recovery) -> Duration| {
            recovery.map(|recovery| display_duration(of(recovery)).to_string())
        };
        let size =
            |bytes: Option<u32>| bytes.map(|bytes| display_size(u64::from(bytes)).to_string());
        let (auth, token_file) = match &connecting.auth {
            Auth::Plain => (AuthKind::Plain, None),
            Auth::External => (AuthKind::External, None),
            Auth::Token { file } => (AuthKind::Token, Some(file.clone())),
        };
        Self {
            allocation: Some(connecting.allocation),
            auth: Some(auth),
            token_file,
            connect_timeout: Some(display_duration(connecting.timeout).to_string()),
            connect_parallel: Some(connecting.parallel),
            connect_rate: connecting.rate,
            startup_timeout: connecting
                .startup_timeout
                .map(|timeout| display_duration(timeout).to_string()),
            nodelay: Some(connecting.nodelay),
            send_buffer: size(connecting.send_buffer_bytes),
            receive_buffer: size(connecting.receive_buffer_bytes),
            recovery: Some(recovery.is_some()),
            recovery_delay: time(|recovery| recovery.delay),
            recovery_max_delay: time(|recovery| recovery.max_delay),
            recovery_timeout: time(|recovery| recovery.timeout),
            tls: (connecting.tls != connecting::Tls::default()).then(|| (&connecting.tls).into()),
            ..Self::default()
        }
    }
}

/// Returns a value for a rare key, which is written only if it is set.
fn some_unless<T>(value: T, is_empty: bool) -> Option<T> {
    (!is_empty).then_some(value)
}

impl From<&connecting::Tls> for Tls {
    fn from(tls: &connecting::Tls) -> Self {
        Self {
            ca: tls.ca.clone(),
            cert: tls.cert.clone(),
            key: tls.key.clone(),
            server_name: tls.server_name.clone(),
            verify: Some(tls.verify),
        }
    }
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
