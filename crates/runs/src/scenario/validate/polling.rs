//! `[[pollers]]`.

use std::time::Duration;

use super::{
    super::{
        error::{Problem, refuse},
        model::{BrokerSpec, PollerGroup},
    },
    fields,
};

const INTERVAL_MIN: Duration = Duration::from_millis(1);

/// Limit of pollers, because each is a thread.
const COUNT_MAX: u32 = 256;

const MANAGEMENT: &str = "rabbitmq_management";

pub(super) fn group(
    index: usize,
    group: &mut PollerGroup,
    broker: &BrokerSpec,
) -> Result<(), Problem> {
    fields::name(&mut group.name, "pollers", index);
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if group.name.len() > 60 || !group.name.chars().all(plain) {
        return refuse("name", "must have 1 to 60 letters, digits, `-`, `_` or `.`");
    }
    url(&group.url, broker)?;
    if !(1..=COUNT_MAX).contains(&group.count) {
        return refuse("count", format!("must be from 1 to {COUNT_MAX}"));
    }
    if group.interval < INTERVAL_MIN {
        return refuse("interval", "must be 1ms or longer; `count` gives more requests");
    }
    trust(group)?;
    login(group)
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

fn login(group: &PollerGroup) -> Result<(), Problem> {
    let has_password = group.password_env.is_some() || group.password_file.is_some();
    if group.password_env.is_some() && group.password_file.is_some() {
        return refuse("password-file", "give this or `password-env`");
    }
    match group.user {
        Some(_) if !has_password => refuse("user", "needs `password-env` or `password-file`"),
        None if has_password => refuse("user", "is missing: a password needs a user"),
        _ => Ok(()),
    }
}

fn trust(group: &PollerGroup) -> Result<(), Problem> {
    if !group.url.starts_with("https://") && (group.insecure || group.ca.is_some()) {
        let key = if group.insecure { "insecure" } else { "ca" };
        return refuse(key, "applies to `https` only, and `url` does not use it");
    }
    if group.insecure && group.ca.is_some() {
        return refuse("ca", "has no effect with `insecure`: remove one");
    }
    Ok(())
}
