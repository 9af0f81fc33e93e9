//! The keys of a scenario that name parts of the machine that runs it: files, secrets, processes, addresses.
//!
//! This is the only such list. A process that takes a scenario from elsewhere decides by it. A test fails if a key of a
//! scenario is neither here nor known to stay on the broker.

use toml::Value;

use super::{BrokerSpec, Scenario};

/// A key that names a part of the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineUse {
    /// Dotted key, such as `publishers.0.body-files`.
    pub key: String,
    /// The part of the machine that it reaches.
    pub reach: Reach,
}

/// The part of a machine that a key reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// Files whose contents go to the broker.
    SentFile,
    /// Files that become part of the scenario.
    ListFile,
    /// Files that prove the client's identity, or that name the trusted authorities.
    LoginFile,
    /// The login of a connection, and its trust.
    Login,
    /// The broker that gets the load.
    Broker,
    /// Processes that are started, changed or ended, and the files that these open.
    Process,
    /// Requested pages, and the login for them.
    Poller,
    /// The recorder or the capture of packets.
    Recorder,
}

/// A pattern of keys, the part of the machine that they and all keys below them reach, and the value that has no
/// effect. `*` is an index of a list.
const KEYS: &[(&str, Reach, &str)] = &[
    ("broker.uri", Reach::Broker, ""),
    ("broker.uris", Reach::Broker, ""),
    ("broker.auth", Reach::Login, "plain"),
    ("broker.token-file", Reach::LoginFile, ""),
    ("broker.tls.ca", Reach::LoginFile, ""),
    ("broker.tls.cert", Reach::LoginFile, ""),
    ("broker.tls.key", Reach::LoginFile, ""),
    ("broker.tls.server-name", Reach::Login, ""),
    ("broker.tls.verify", Reach::Login, "true"),
    ("broker.nodes", Reach::Process, ""),
    ("broker.cluster", Reach::Process, ""),
    ("broker.plugins", Reach::Process, ""),
    ("broker.plugins-directory", Reach::Process, ""),
    ("broker.config", Reach::Process, ""),
    ("broker.advanced-config", Reach::Process, ""),
    ("broker.erl-args", Reach::Process, ""),
    ("broker.root", Reach::Process, ""),
    ("broker.patches", Reach::Process, ""),
    ("broker.modules", Reach::Process, ""),
    ("broker.environment", Reach::Process, ""),
    ("broker.policies", Reach::Process, ""),
    ("broker.parameters", Reach::Process, ""),
    ("queues.*.names-file", Reach::ListFile, ""),
    ("publishers.*.body-files", Reach::SentFile, ""),
    ("pollers", Reach::Poller, ""),
    ("profile", Reach::Recorder, ""),
    ("packets", Reach::Recorder, ""),
    ("faults", Reach::Process, ""),
];

impl Scenario {
    /// Returns all parts of the machine that this scenario names. A throwaway broker is one of them, with the key
    /// `broker`.
    pub fn machine_uses(&self) -> Vec<MachineUse> {
        let root =
            Value::try_from(self).expect("scenarios are tables of plain values with string keys");
        let of_key = |(pattern, reach, nothing): &(&str, Reach, &str)| {
            let mut found = Vec::new();
            find(&root, &pattern.split('.').collect::<Vec<_>>(), String::new(), &mut found);
            let asked = found.into_iter().filter(|(_, value)| !is_nothing(value, nothing));
            asked.map(|(key, _)| MachineUse { key, reach: *reach }).collect::<Vec<_>>()
        };
        let started = matches!(self.broker.spec, BrokerSpec::Throwaway(_))
            .then(|| MachineUse { key: "broker".to_owned(), reach: Reach::Process });
        started.into_iter().chain(KEYS.iter().flat_map(of_key)).collect()
    }
}

/// Collects the values at `pattern` below `value`, with their keys.
fn find<'a>(value: &'a Value, pattern: &[&str], key: String, found: &mut Vec<(String, &'a Value)>) {
    let Some((name, rest)) = pattern.split_first() else {
        found.push((key, value));
        return;
    };
    let below = |part: &str| if key.is_empty() { part.to_owned() } else { format!("{key}.{part}") };
    match value {
        Value::Array(items) if *name == "*" => {
            for (at, item) in items.iter().enumerate() {
                find(item, rest, below(&at.to_string()), found);
            }
        }
        Value::Table(table) => {
            if let Some(inner) = table.get(*name) {
                find(inner, rest, below(name), found);
            }
        }
        _ => {}
    }
}

fn is_nothing(value: &Value, nothing: &str) -> bool {
    match value {
        Value::String(text) => text == nothing,
        Value::Boolean(given) => given.to_string() == nothing,
        Value::Array(items) => items.is_empty(),
        Value::Table(table) => table.is_empty(),
        _ => false,
    }
}

/// Returns whether the list has this key, or a table that contains it. Indexes of lists are `*`.
#[cfg(test)]
pub(super) fn is_listed(key: &str) -> bool {
    KEYS.iter().any(|(pattern, ..)| {
        key.strip_prefix(pattern).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

/// Returns the patterns of the list.
#[cfg(test)]
pub(super) fn patterns() -> impl Iterator<Item = &'static str> {
    KEYS.iter().map(|(pattern, ..)| *pattern)
}
