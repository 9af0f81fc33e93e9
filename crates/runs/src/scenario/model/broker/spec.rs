//! A broker that already runs, or one that is started for the run.

use std::{collections::BTreeMap, fmt};

use super::{Parameter, Policy};

/// The broker under load.
#[derive(Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "there is one for each scenario")]
pub enum BrokerSpec {
    /// A broker that already runs. The URIs may carry a password: never print them.
    Existing {
        /// At least one `amqp://user:password@host:port/vhost` or `amqps://…`.
        uris: Vec<String>,
    },
    /// A broker that is started for this run and stopped after it.
    Throwaway(ThrowawayBroker),
}

impl Default for BrokerSpec {
    fn default() -> Self {
        Self::Throwaway(ThrowawayBroker::default())
    }
}

impl fmt::Debug for BrokerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Existing { .. } => f.write_str("Existing"),
            Self::Throwaway(broker) => broker.fmt(f),
        }
    }
}

impl BrokerSpec {
    /// Returns whether the addresses are independent brokers, so that each needs all queues.
    pub fn is_several_brokers(&self) -> bool {
        matches!(self, Self::Throwaway(broker) if broker.nodes > 1 && !broker.is_cluster)
    }
}

/// Maximum number of nodes of a throwaway cluster: odd numbers keep a majority, and more do not fit on one machine.
pub const MAX_NODES: u32 = 7;

/// The setup of a throwaway broker.
#[derive(Clone, Debug, PartialEq)]
pub struct ThrowawayBroker {
    /// Number of nodes, from 1 to [`MAX_NODES`]; several are a cluster.
    pub nodes: u32,
    /// Several nodes form one cluster. Otherwise each is a separate broker, independent of the others.
    pub is_cluster: bool,
    /// Plugins to enable, by name.
    pub plugins: Vec<String>,
    /// A directory with plugins (`.ez`) in addition to the broker's own; empty for none.
    pub plugins_directory: String,
    /// Lines added to `rabbitmq.conf`.
    pub config: String,
    /// Contents of `advanced.config`; empty for none.
    pub advanced_config: String,
    /// Extra arguments for the Erlang VM, as in `RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS`.
    pub erl_args: String,
    /// Further variables of the broker's environment.
    pub environment: BTreeMap<String, String>,
    /// The root directory of a different system whose RabbitMQ and Erlang are used; empty for the current system.
    pub root: String,
    /// Files with Erlang functions that replace those of the broker.
    pub patches: Vec<String>,
    /// Files with whole modules, `.erl` or `.beam`, that replace those of the broker.
    pub modules: Vec<String>,
    /// Policies of the virtual host.
    pub policies: Vec<Policy>,
    /// Runtime parameters of the virtual host.
    pub parameters: Vec<Parameter>,
}

impl Default for ThrowawayBroker {
    fn default() -> Self {
        Self {
            nodes: 1,
            is_cluster: true,
            plugins: Vec::new(),
            plugins_directory: String::new(),
            config: String::new(),
            advanced_config: String::new(),
            erl_args: String::new(),
            environment: BTreeMap::new(),
            root: String::new(),
            patches: Vec::new(),
            modules: Vec::new(),
            policies: Vec::new(),
            parameters: Vec::new(),
        }
    }
}
