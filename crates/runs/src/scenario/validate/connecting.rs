//! `[broker]`: settings of connections, for existing and throwaway brokers alike.

use super::{
    super::{
        connecting::{Allocation, Auth, Connecting, Recovery, Tls},
        error::{Problem, refuse},
        wire::{self, AuthKind},
    },
    fields,
};

pub(super) fn connecting(wire: &wire::Broker) -> Result<Connecting, Problem> {
    let tls = tls(wire).map_err(|problem| problem.under("tls"))?;
    let default = Connecting::default();
    let parallel = wire.connect_parallel.unwrap_or(default.parallel);
    if !(1..=256).contains(&parallel) {
        return refuse("connect-parallel", "must be from 1 to 256");
    }
    if wire.connect_rate.is_some_and(|rate| !(0.1..=100_000.0).contains(&rate)) {
        return refuse("connect-rate", "must be from 0.1 to 100000 connections a second");
    }
    let timeout = fields::duration("connect-timeout", wire.connect_timeout.as_deref())?;
    Ok(Connecting {
        allocation: wire.allocation.unwrap_or(Allocation::RoundRobin),
        auth: auth(wire, &tls)?,
        tls,
        timeout: timeout.unwrap_or(default.timeout),
        startup_timeout: fields::duration("startup-timeout", wire.startup_timeout.as_deref())?,
        nodelay: wire.nodelay.unwrap_or(default.nodelay),
        send_buffer_bytes: buffer("send-buffer", wire.send_buffer.as_deref())?,
        receive_buffer_bytes: buffer("receive-buffer", wire.receive_buffer.as_deref())?,
        parallel,
        rate: wire.connect_rate,
        recovery: recovery(wire)?,
    })
}

fn buffer(key: &str, size: Option<&str>) -> Result<Option<u32>, Problem> {
    let bytes = size.map(|size| fields::size(key, size)).transpose()?;
    if bytes == Some(0) {
        return refuse(key, "must be more than 0B; omit it for the kernel's choice");
    }
    Ok(bytes)
}

fn auth(wire: &wire::Broker, tls: &Tls) -> Result<Auth, Problem> {
    let kind = wire.auth.unwrap_or(AuthKind::Plain);
    match (kind, &wire.token_file) {
        (AuthKind::Token, Some(file)) => Ok(Auth::Token { file: file.clone() }),
        (AuthKind::Token, None) => {
            refuse("token-file", "is missing: the file that holds the token")
        }
        (_, Some(_)) => refuse("token-file", "is for `auth = \"token\"` only"),
        (AuthKind::External, None) if tls.cert.is_none() => refuse(
            "auth",
            "`external` logs in by the client's certificate: give `cert` and `key` in \
             `[broker.tls]`",
        ),
        (AuthKind::External, None) => Ok(Auth::External),
        (AuthKind::Plain, None) => Ok(Auth::Plain),
    }
}

fn tls(wire: &wire::Broker) -> Result<Tls, Problem> {
    let Some(tls) = wire.tls.clone() else { return Ok(Tls::default()) };
    match (&tls.cert, &tls.key) {
        (Some(_), None) => return refuse("key", "is missing: the private key of `cert`"),
        (None, Some(_)) => return refuse("cert", "is missing: the certificate of `key`"),
        _ => {}
    }
    let verify = tls.verify.unwrap_or(true);
    if !verify && tls.ca.is_some() {
        return refuse("ca", "is not used with `verify = false`: remove one of the two");
    }
    let (ca, cert, key, server_name) = (tls.ca, tls.cert, tls.key, tls.server_name);
    Ok(Tls { ca, cert, key, server_name, verify })
}

fn recovery(wire: &wire::Broker) -> Result<Option<Recovery>, Problem> {
    let times = [
        ("recovery-delay", &wire.recovery_delay),
        ("recovery-max-delay", &wire.recovery_max_delay),
        ("recovery-timeout", &wire.recovery_timeout),
    ];
    if wire.recovery != Some(true) {
        if let Some((key, _)) = times.into_iter().find(|(_, given)| given.is_some()) {
            return refuse(key, "needs recovered connections: set `recovery = true`");
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
