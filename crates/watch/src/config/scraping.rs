//! `[inside]` and `[metrics]`: the access to nodes, and the listener for Prometheus.

use std::{ops::RangeInclusive, path::PathBuf, time::Duration};

use rabbitscope_http::{Host, parse_address};
use rabbitscope_text::parse_duration;

use super::{
    options::{InsideOptions, ScrapeOptions},
    wire::{InsideToml, MetricsToml},
};

/// Default port of a port mapper.
const EPMD_PORT: u16 = 4369;

/// Time between two readings of a node, and between two snapshots. Prometheus usually scrapes every 15 s.
const INTERVAL: Duration = Duration::from_secs(10);
const INTERVALS: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_secs(300);

/// A dotted key and the reason.
type Refusal = (String, String);

fn refuse<T>(key: &str, reason: impl Into<String>) -> Result<T, Refusal> {
    Err((key.to_owned(), reason.into()))
}

/// Validates the access to nodes; `None` unless the file allows it.
pub(super) fn inside_options(wire: InsideToml) -> Result<Option<InsideOptions>, Refusal> {
    let InsideToml { ask, cookie_file, epmd_port } = wire;
    if !ask {
        let needless = [
            ("inside.cookie-file", cookie_file.is_some()),
            ("inside.epmd-port", epmd_port.is_some()),
        ];
        return match needless.into_iter().find(|(_, is_given)| *is_given) {
            Some((key, _)) => {
                refuse(key, "has no effect without `ask = true`, which permits queries to nodes")
            }
            None => Ok(None),
        };
    }
    if epmd_port == Some(0) {
        return refuse("inside.epmd-port", "must be from 1 to 65535");
    }
    let cookie_file = cookie_file.map(PathBuf::from);
    Ok(Some(InsideOptions { cookie_file, epmd_port: epmd_port.unwrap_or(EPMD_PORT) }))
}

/// Validates the time between two snapshots, and the listener.
pub(super) fn metrics_options(
    wire: MetricsToml,
) -> Result<(Duration, Option<ScrapeOptions>), Refusal> {
    let MetricsToml { interval, listen, auth_file, allow_hosts } = wire;
    let interval = match interval {
        None => INTERVAL,
        Some(text) => parse_duration(&text)
            .map_err(|error| ("metrics.interval".to_owned(), error.to_string()))?,
    };
    if !INTERVALS.contains(&interval) {
        return refuse("metrics.interval", "must be from 1s to 5m");
    }
    let Some(listen) = listen else {
        let needless = [
            ("metrics.auth-file", auth_file.is_some()),
            ("metrics.allow-hosts", !allow_hosts.is_empty()),
        ];
        return match needless.into_iter().find(|(_, is_given)| *is_given) {
            Some((key, _)) => refuse(key, "has no effect without `listen`"),
            None => Ok((interval, None)),
        };
    };
    let address = parse_address(&listen).map_err(|reason| ("metrics.listen".to_owned(), reason))?;
    if auth_file.is_none() && !address.ip().to_canonical().is_loopback() {
        let reason = "can be reached from other machines: give `auth-file`, or listen on 127.0.0.1";
        return refuse("metrics.listen", reason);
    }
    let hosts = allow_hosts.iter().enumerate().map(|(at, name)| {
        name.parse::<Host>()
            .map_err(|error| (format!("metrics.allow-hosts.{at}"), error.to_string()))
    });
    let hosts = hosts.collect::<Result<_, _>>()?;
    Ok((interval, Some(ScrapeOptions { address, auth_file: auth_file.map(PathBuf::from), hosts })))
}
