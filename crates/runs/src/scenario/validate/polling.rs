//! `[[pollers]]`.

use std::time::Duration;

use super::{
    super::{
        error::{Problem, refuse},
        model::{BrokerSpec, PasswordSource, PollerGroup, PollerLogin, PollerTrust},
        wire,
    },
    fields,
};
use crate::scenario::validate::context::each;

const INTERVAL: Duration = Duration::from_secs(1);
const INTERVAL_MIN: Duration = Duration::from_millis(1);
const TIMEOUT: Duration = Duration::from_secs(10);

/// Limit of pollers, because each is a thread.
const COUNT_MAX: u32 = 256;

const MANAGEMENT: &str = "rabbitmq_management";

pub(super) fn groups(
    wire: Vec<wire::Pollers>,
    broker: &BrokerSpec,
) -> Result<Vec<PollerGroup>, Problem> {
    let groups = each("pollers", wire, |index, wire| group(index, wire, broker))?;
    fields::unique("pollers", groups.iter().map(|group| group.name.as_str()))?;
    Ok(groups)
}

fn group(index: usize, wire: wire::Pollers, broker: &BrokerSpec) -> Result<PollerGroup, Problem> {
    let name = wire.name.clone().unwrap_or_else(|| format!("pollers-{index}"));
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if !(1..=60).contains(&name.len()) || !name.chars().all(plain) {
        return refuse("name", "must have 1 to 60 letters, digits, `-`, `_` or `.`");
    }
    url(&wire.url, broker)?;
    let count = wire.count.unwrap_or(1);
    if !(1..=COUNT_MAX).contains(&count) {
        return refuse("count", format!("must be from 1 to {COUNT_MAX}"));
    }
    let interval = fields::duration("interval", wire.interval.as_deref())?.unwrap_or(INTERVAL);
    if interval < INTERVAL_MIN {
        return refuse("interval", "must be 1ms or longer; `count` gives more requests");
    }
    let timeout = fields::duration("timeout", wire.timeout.as_deref())?.unwrap_or(TIMEOUT);
    let trust = trust(&wire)?;
    let login = login(wire.user, wire.password_env, wire.password_file)?;
    Ok(PollerGroup { name, url: wire.url, count, interval, timeout, login, trust })
}

fn url(url: &str, broker: &BrokerSpec) -> Result<(), Problem> {
    if let Some(rest) = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://")) {
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        return match authority {
            "" => refuse("url", "has no host"),
            // The URL is never quoted: it may hold a password.
            _ if authority.contains('@') => {
                refuse("url", "must not contain credentials: give `user` and `password-env`")
            }
            _ => Ok(()),
        };
    }
    if !url.starts_with('/') {
        let reason = "must start with `http://`, `https://` or, for the management listener of a \
                      throwaway broker, with `/`";
        return refuse("url", reason);
    }
    match broker {
        BrokerSpec::Existing { .. } => {
            refuse("url", "must be complete (`http://host:15672/…`) for an existing broker")
        }
        BrokerSpec::Throwaway(spec) if !spec.plugins.iter().any(|name| name == MANAGEMENT) => {
            let reason =
                format!("is on the management listener: add `{MANAGEMENT}` to `broker.plugins`");
            refuse("url", reason)
        }
        BrokerSpec::Throwaway(_) => Ok(()),
    }
}

fn login(
    user: Option<String>,
    environment: Option<String>,
    file: Option<String>,
) -> Result<Option<PollerLogin>, Problem> {
    let password = match (environment, file) {
        (Some(_), Some(_)) => return refuse("password-file", "give this or `password-env`"),
        (Some(name), None) => Some(PasswordSource::Environment(name)),
        (None, Some(path)) => Some(PasswordSource::File(path)),
        (None, None) => None,
    };
    match (user, password) {
        (Some(user), Some(password)) => Ok(Some(PollerLogin { user, password })),
        (None, None) => Ok(None),
        (Some(_), None) => refuse("user", "needs `password-env` or `password-file`"),
        (None, Some(_)) => refuse("user", "is missing: a password needs a user"),
    }
}

fn trust(wire: &wire::Pollers) -> Result<PollerTrust, Problem> {
    let insecure = wire.insecure.unwrap_or(false);
    if !wire.url.starts_with("https://") && (insecure || wire.ca.is_some()) {
        let key = if insecure { "insecure" } else { "ca" };
        return refuse(key, "applies to `https` only, and `url` does not use it");
    }
    match &wire.ca {
        Some(_) if insecure => refuse("ca", "has no effect with `insecure`: remove one"),
        Some(path) => Ok(PollerTrust::Authorities(path.clone())),
        None if insecure => Ok(PollerTrust::Anybody),
        None => Ok(PollerTrust::System),
    }
}
