//! `[broker]`: settings of connections, for existing and throwaway brokers alike.

use super::super::{
    error::{Problem, refuse},
    model::{
        Auth, Connecting, Recovery, Tls,
        written::{AuthKind, Broker},
    },
};

pub(super) fn connecting(broker: &Broker) -> Result<Connecting, Problem> {
    tls(&broker.tls).map_err(|problem| problem.under("tls"))?;
    let default = Connecting::default();
    let parallel = broker.connect_parallel.unwrap_or(default.parallel);
    if !(1..=256).contains(&parallel) {
        return refuse("connect-parallel", "must be from 1 to 256");
    }
    if broker.connect_rate.is_some_and(|rate| !(0.1..=100_000.0).contains(&rate)) {
        return refuse("connect-rate", "must be from 0.1 to 100000 connections a second");
    }
    let buffers = [("send-buffer", broker.send_buffer), ("receive-buffer", broker.receive_buffer)];
    if let Some((key, _)) = buffers.into_iter().find(|(_, bytes)| *bytes == Some(0)) {
        return refuse(key, "must be more than 0B; omit it for the kernel's choice");
    }
    Ok(Connecting {
        allocation: broker.allocation,
        auth: auth(broker)?,
        tls: broker.tls.clone(),
        timeout: broker.connect_timeout.unwrap_or(default.timeout),
        startup_timeout: broker.startup_timeout,
        nodelay: broker.nodelay.unwrap_or(default.nodelay),
        send_buffer_bytes: broker.send_buffer,
        receive_buffer_bytes: broker.receive_buffer,
        parallel,
        rate: broker.connect_rate,
        recovery: recovery(broker)?,
    })
}

fn auth(broker: &Broker) -> Result<Auth, Problem> {
    match (broker.auth, &broker.token_file) {
        (AuthKind::Token, Some(file)) => Ok(Auth::Token { file: file.clone() }),
        (AuthKind::Token, None) => {
            refuse("token-file", "is missing: the file that holds the token")
        }
        (_, Some(_)) => refuse("token-file", "is for `auth = \"token\"` only"),
        (AuthKind::External, None) if broker.tls.cert.is_none() => refuse(
            "auth",
            "`external` logs in by the client's certificate: give `cert` and `key` in \
             `[broker.tls]`",
        ),
        (AuthKind::External, None) => Ok(Auth::External),
        (AuthKind::Anonymous, None) => Ok(Auth::Anonymous),
        (AuthKind::Plain, None) => Ok(Auth::Plain),
    }
}

fn tls(tls: &Tls) -> Result<(), Problem> {
    match (&tls.cert, &tls.key) {
        (Some(_), None) => refuse("key", "is missing: the private key of `cert`"),
        (None, Some(_)) => refuse("cert", "is missing: the certificate of `key`"),
        _ if !tls.verify && tls.ca.is_some() => {
            refuse("ca", "is not used with `verify = false`: remove one of the two")
        }
        _ => Ok(()),
    }
}

fn recovery(broker: &Broker) -> Result<Option<Recovery>, Problem> {
    let times = [
        ("recovery-delay", broker.recovery_delay),
        ("recovery-max-delay", broker.recovery_max_delay),
        ("recovery-timeout", broker.recovery_timeout),
    ];
    if !broker.recovery {
        return match times.into_iter().find(|(_, given)| given.is_some()) {
            Some((key, _)) => refuse(key, "needs recovered connections: set `recovery = true`"),
            None => Ok(None),
        };
    }
    let [delay, max_delay, timeout] = times.map(|(_, time)| time);
    let default = Recovery::default();
    let delay = delay.unwrap_or(default.delay);
    let max_delay = max_delay.unwrap_or(default.max_delay.max(delay));
    if max_delay < delay {
        return refuse("recovery-max-delay", "must be at least `recovery-delay`");
    }
    Ok(Some(Recovery { delay, max_delay, timeout: timeout.unwrap_or(default.timeout) }))
}
