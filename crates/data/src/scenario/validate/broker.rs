//! `[broker]`: one that is there, or one that is started for the run.

use super::{
    super::{
        connecting::{Connecting, Recovery},
        error::{Problem, refuse},
        model::{BrokerSpec, ThrowawayBroker},
        wire,
    },
    fields,
};

pub(super) fn broker(wire: wire::Broker) -> Result<BrokerSpec, Problem> {
    let Some(uri) = wire.uri else {
        return Ok(BrokerSpec::Throwaway(ThrowawayBroker {
            plugins: plugins(wire.plugins.unwrap_or_default())?,
            config: wire.config.unwrap_or_default(),
            advanced_config: wire.advanced_config.unwrap_or_default(),
            erl_args: wire.erl_args.unwrap_or_default(),
        }));
    };
    let of_throwaway = [
        ("plugins", wire.plugins.is_some()),
        ("config", wire.config.is_some()),
        ("advanced-config", wire.advanced_config.is_some()),
        ("erl-args", wire.erl_args.is_some()),
    ];
    if let Some((key, _)) = of_throwaway.into_iter().find(|(_, given)| *given) {
        let reason = "sets up a broker that is started for the run; `uri` names one that is \
                      there: remove one of the two";
        return refuse(key, reason);
    }
    check_uri(&uri)?;
    Ok(BrokerSpec::Existing { uri })
}

/// Only as far as is needed to keep a password recognisable; the client reads the URI in full.
/// Reasons never quote the URI.
fn check_uri(uri: &str) -> Result<(), Problem> {
    let Some((_, rest)) = uri.split_once("://").filter(|(scheme, _)| scheme.starts_with("amqp"))
    else {
        return refuse("uri", "must start with `amqp://`");
    };
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let path = rest.split_once('/').map_or("", |(_, path)| path);
    if path.contains('@') || query.contains('@') {
        return refuse("uri", "has an `@` behind the host: write it as `%40` (and `/` as `%2F`)");
    }
    let known = ["heartbeat", "frame_max", "channel_max"];
    let mut keys = query.split('&').filter_map(|pair| pair.split('=').next());
    if keys.any(|key| !key.is_empty() && !known.contains(&key)) {
        let reason = "has an unknown parameter; allowed are `heartbeat`, `frame_max` and \
                      `channel_max`";
        return refuse("uri", reason);
    }
    Ok(())
}

fn plugins(names: Vec<String>) -> Result<Vec<String>, Problem> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if let Some(index) = names.iter().position(|name| name.is_empty() || !name.chars().all(plain)) {
        let reason = "is no name of a plugin: letters, digits and `_`, as in `rabbitmq_management`";
        let refused: Result<(), Problem> = refuse(&index.to_string(), reason);
        refused.map_err(|problem| problem.under("plugins"))?;
    }
    Ok(names)
}

/// What holds for every broker.
pub(super) fn connecting(wire: &wire::Broker) -> Result<Connecting, Problem> {
    Ok(Connecting { recovery: recovery(wire)? })
}

fn recovery(wire: &wire::Broker) -> Result<Option<Recovery>, Problem> {
    let times = [
        ("recovery-delay", &wire.recovery_delay),
        ("recovery-max-delay", &wire.recovery_max_delay),
        ("recovery-timeout", &wire.recovery_timeout),
    ];
    if wire.recovery != Some(true) {
        if let Some((key, _)) = times.into_iter().find(|(_, given)| given.is_some()) {
            return refuse(key, "says how connections are recovered: set `recovery = true`");
        }
        return Ok(None);
    }
    let [delay, max_delay, timeout] =
        times.map(|(key, text)| fields::duration(key, text.as_deref()));
    let default = Recovery::default();
    let delay = delay?.unwrap_or(default.delay);
    let max_delay = max_delay?.unwrap_or(default.max_delay.max(delay));
    if max_delay < delay {
        return refuse("recovery-max-delay", "must be at least `recovery-delay`");
    }
    Ok(Some(Recovery { delay, max_delay, timeout: timeout?.unwrap_or(default.timeout) }))
}
