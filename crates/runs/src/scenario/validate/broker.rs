//! `[broker]`: an existing broker, or one that is started for the run.

use std::{collections::BTreeMap, path::Path};

use super::{
    super::{
        error::{Problem, refuse, refuse_at},
        model::{
            Broker, BrokerSpec, MAX_NODES, Parameter, Policy, ThrowawayBroker, has_placeholder,
            written,
        },
    },
    connecting,
};

/// Checks a table that was read, and fills in the broker and the settings of connections.
pub(super) fn table(broker: &mut Broker) -> Result<(), Problem> {
    let written = broker.unchecked.take().map_or_else(written::Broker::default, |written| *written);
    broker.connecting = connecting::connecting(&written)?;
    broker.spec = spec(written)?;
    Ok(())
}

fn spec(written: written::Broker) -> Result<BrokerSpec, Problem> {
    let Some(uris) = uris(written.uri, written.uris)? else {
        let nodes = nodes(written.nodes)?;
        return Ok(BrokerSpec::Throwaway(ThrowawayBroker {
            nodes,
            is_cluster: is_cluster(written.cluster, nodes)?,
            plugins: plugins(written.plugins.unwrap_or_default())?,
            plugins_directory: written.plugins_directory.unwrap_or_default(),
            config: written.config.unwrap_or_default(),
            advanced_config: written.advanced_config.unwrap_or_default(),
            erl_args: written.erl_args.unwrap_or_default(),
            environment: environment(written.environment.unwrap_or_default())?,
            root: written.root.unwrap_or_default(),
            patches: written.patches.unwrap_or_default(),
            modules: modules(written.modules.unwrap_or_default())?,
            policies: policies(written.policies.unwrap_or_default())?,
            parameters: parameters(written.parameters.unwrap_or_default(), nodes)?,
        }));
    };
    let of_throwaway = [
        ("nodes", written.nodes.is_some()),
        ("cluster", written.cluster.is_some()),
        ("plugins", written.plugins.is_some()),
        ("plugins-directory", written.plugins_directory.is_some()),
        ("config", written.config.is_some()),
        ("advanced-config", written.advanced_config.is_some()),
        ("erl-args", written.erl_args.is_some()),
        ("environment", written.environment.is_some()),
        ("root", written.root.is_some()),
        ("patches", written.patches.is_some()),
        ("modules", written.modules.is_some()),
        ("policies", written.policies.is_some()),
        ("parameters", written.parameters.is_some()),
    ];
    if let Some((key, _)) = of_throwaway.into_iter().find(|(_, given)| *given) {
        let reason = "sets up a broker that is started for the run; `uri` names one that is \
                      there: remove one of the two";
        return refuse(key, reason);
    }
    Ok(BrokerSpec::Existing { uris })
}

fn nodes(count: Option<u32>) -> Result<u32, Problem> {
    match count.unwrap_or(1) {
        count if (1..=MAX_NODES).contains(&count) => Ok(count),
        _ => refuse("nodes", format!("must be from 1 to {MAX_NODES}")),
    }
}

fn is_cluster(wish: Option<bool>, nodes: u32) -> Result<bool, Problem> {
    match wish {
        Some(false) if nodes < 2 => refuse("cluster", "needs several nodes: give `nodes`"),
        wish => Ok(wish.unwrap_or(true)),
    }
}

/// Checks each URI; absent if a broker is started instead.
fn uris(one: Option<String>, many: Option<Vec<String>>) -> Result<Option<Vec<String>>, Problem> {
    match (one, many) {
        (Some(_), Some(_)) => refuse("uris", "give either `uri` or `uris`"),
        (Some(uri), None) => check_uri("uri", &uri).map(|()| Some(vec![uri])),
        (None, Some(uris)) if uris.is_empty() => refuse("uris", "must name at least one broker"),
        (None, Some(uris)) => {
            for (index, uri) in uris.iter().enumerate() {
                let checked = check_uri(&index.to_string(), uri);
                checked.map_err(|problem| problem.under("uris"))?;
            }
            Ok(Some(uris))
        }
        (None, None) => Ok(None),
    }
}

/// Checks a URI only as far as needed to keep a password recognisable; the client reads the URI in full. Reasons never
/// quote the URI.
fn check_uri(key: &str, uri: &str) -> Result<(), Problem> {
    let scheme_and_rest = uri.split_once("://");
    let Some((_, rest)) = scheme_and_rest.filter(|(scheme, _)| ["amqp", "amqps"].contains(scheme))
    else {
        return refuse(key, "must start with `amqp://` or `amqps://`");
    };
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let path = rest.split_once('/').map_or("", |(_, path)| path);
    if path.contains('@') || query.contains('@') {
        return refuse(key, "has an `@` behind the host: write it as `%40` (and `/` as `%2F`)");
    }
    let known = ["heartbeat", "frame_max", "channel_max", "stream_port", "mqtt_port"];
    let mut keys = query.split('&').filter_map(|pair| pair.split('=').next());
    if keys.any(|key| !key.is_empty() && !known.contains(&key)) {
        let reason = "has an unknown parameter; allowed are `heartbeat`, `frame_max`, `channel_max`, `stream_port` and \
                      `mqtt_port`";
        return refuse(key, reason);
    }
    Ok(())
}

fn environment(variables: BTreeMap<String, String>) -> Result<BTreeMap<String, String>, Problem> {
    let is_name = |name: &str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        !name.is_empty()
            && name.chars().all(plain)
            && !name.starts_with(|c: char| c.is_ascii_digit())
    };
    for (name, value) in &variables {
        if !is_name(name) || value.contains('\0') {
            let reason = "is no variable of an environment, such as `RABBITMQ_IO_THREAD_POOL_SIZE`";
            return refuse_at(&["environment", name], reason);
        }
    }
    Ok(variables)
}

/// Refuses placeholders in a policy, which has no number to replace them.
fn no_placeholder(
    policy: &Policy,
    definition: &serde_json::Map<String, serde_json::Value>,
) -> Result<(), Problem> {
    let has_one = |value: &serde_json::Value| value.as_str().is_some_and(has_placeholder);
    let reason =
        "`{}` is not replaced here: a policy has no numbers; write a pattern, or a policy for each";
    if has_placeholder(&policy.pattern) {
        return refuse("pattern", reason);
    }
    if definition.values().any(has_one) { refuse("definition", reason) } else { Ok(()) }
}

/// Refuses definitions that are no JSON object. The broker itself checks pattern and definition.
fn policies(policies: Vec<Policy>) -> Result<Vec<Policy>, Problem> {
    for (index, policy) in policies.iter().enumerate() {
        let refused = if policy.name.is_empty() {
            refuse("name", "must not be empty")
        } else if policies[..index].iter().any(|other| other.name == policy.name) {
            refuse("name", "is there already")
        } else {
            match serde_json::from_str(&policy.definition) {
                Ok(serde_json::Value::Object(definition)) => no_placeholder(policy, &definition),
                _ => {
                    refuse("definition", "must be a JSON object, such as '{\"max-length\": 1000}'")
                }
            }
        };
        let refused: Result<(), Problem> = refused;
        refused.map_err(|problem| problem.under(index.to_string()).under("policies"))?;
    }
    Ok(policies)
}

/// Refuses values that are not JSON. The broker itself checks their contents.
fn parameters(parameters: Vec<Parameter>, nodes: u32) -> Result<Vec<Parameter>, Problem> {
    let ids = |parameter: &Parameter| {
        (parameter.component.clone(), parameter.name.clone(), parameter.node)
    };
    for (index, parameter) in parameters.iter().enumerate() {
        let refused: Result<(), Problem> = if parameter.component.is_empty() {
            refuse("component", "must not be empty")
        } else if parameter.name.is_empty() {
            refuse("name", "must not be empty")
        } else if parameters[..index].iter().any(|other| ids(other) == ids(parameter)) {
            refuse("name", "is there already")
        } else if !(1..=nodes).contains(&parameter.node) {
            refuse("node", format!("must be from 1 to {nodes}, the nodes of the broker"))
        } else if !parameter.names_nodes_below(nodes) {
            refuse("value", format!("`$uri-N` names a node: N must be from 1 to {nodes}"))
        } else if serde_json::from_str::<serde_json::Value>(&parameter.value).is_err() {
            refuse("value", "must be JSON, such as '{\"src-uri\": \"amqp://\"}'")
        } else {
            Ok(())
        };
        refused.map_err(|problem| problem.under(index.to_string()).under("parameters"))?;
    }
    Ok(parameters)
}

fn modules(files: Vec<String>) -> Result<Vec<String>, Problem> {
    let is_module = |file: &String| {
        Path::new(file)
            .extension()
            .is_some_and(|extension| extension == "erl" || extension == "beam")
    };
    match files.iter().position(|file| !is_module(file)) {
        None => Ok(files),
        Some(index) => {
            refuse_at(&["modules", &index.to_string()], "must be a file `.erl` or `.beam`")
        }
    }
}

fn plugins(names: Vec<String>) -> Result<Vec<String>, Problem> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if let Some(index) = names.iter().position(|name| name.is_empty() || !name.chars().all(plain)) {
        let reason = "is no name of a plugin: letters, digits and `_`, as in `rabbitmq_management`";
        return refuse_at(&["plugins", &index.to_string()], reason);
    }
    Ok(names)
}
