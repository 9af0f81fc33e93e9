//! The run and the broker of a scenario.

use std::collections::BTreeSet;

use super::{
    arguments::Arguments,
    broker::{broker_of, run_of, set_buffers, tls_of},
    writer::{Draft, Section},
};
use crate::{PerfTestError, error::invalid_value};

/// PerfTest's default size of the socket buffers, in bytes.
const SOCKET_BUFFER: i64 = 65_536;

pub(super) fn write(arguments: &Arguments, draft: &mut Draft) -> Result<(), PerfTestError> {
    let mut head = Section::new("");
    head.set("name", arguments.text("id").map_or_else(|| "perftest".to_owned(), plain));
    draft.push(head);
    let run = run(arguments, draft)?;
    draft.push(run);
    let broker = broker(arguments, draft)?;
    draft.push(broker);
    if let Some(tls) = tls(arguments, draft) {
        draft.push(tls);
    }
    Ok(())
}

fn run(arguments: &Arguments, draft: &mut Draft) -> Result<Section, PerfTestError> {
    let has_consumers =
        arguments.count("consumers")? * arguments.count("consumer-channel-count")? > 0;
    if !has_consumers && arguments.has("exit-when") {
        draft.note("--exit-when: PerfTest needs consumers for this, and there are none");
    }
    let until = arguments.text("exit-when").filter(|_| has_consumers);
    let time = arguments.limit("time")?.map(|seconds| format!("{seconds}s"));
    let mut run = match (&time, until) {
        (None, Some(_)) => Section::new("[run]"),
        _ => run_of(arguments, time, draft)?,
    };
    match until {
        None => {}
        Some(until @ ("empty" | "idle")) => {
            run.set("until", until);
            if until == "idle" {
                run.set("idle-time", "1s");
                draft.note("--exit-when idle: publishing counts as activity, too");
            }
        }
        Some(other) => return invalid_value("exit-when", other, "`empty` or `idle`"),
    }
    if arguments.has("verbose") || arguments.has("verbose-full") {
        draft.note("--verbose: every message is a line of trace.jsonl, without its body");
        run.set("trace-every", 1);
    }
    Ok(run)
}

fn broker(arguments: &Arguments, draft: &mut Draft) -> Result<Section, PerfTestError> {
    note_parameters(arguments, draft);
    let mut uris = uris(arguments);
    if uris.is_empty() {
        uris.push("amqp://localhost".to_owned());
    }
    let parameters = [("heartbeat", "heartbeat"), ("frame_max", "framemax")];
    let mut query = Vec::new();
    for (parameter, option) in parameters {
        query.extend(arguments.limit(option)?.map(|value| format!("{parameter}={value}")));
    }
    let is_replaced = |name: &str| query.iter().any(|pair| name_of(pair) == name);
    let uris =
        uris.iter().map(|uri| with_query(&with_parameters(uri, |name| !is_replaced(name)), &query));
    let mut broker = broker_of(&uris.collect::<Vec<_>>());
    if arguments.has("sasl-external") {
        broker.set("auth", "external");
        draft
            .note("--sasl-external: name the PEM files; PerfTest takes them from a Java key store");
    }
    connecting(arguments, &mut broker)?;
    recovery(arguments, &mut broker, draft)?;
    Ok(broker)
}

/// Returns the broker's URIs as typed, with the parameters that scenarios support.
pub(super) fn uris(arguments: &Arguments) -> Vec<String> {
    typed_uris(arguments).map(|uri| with_parameters(uri, is_known)).collect()
}

fn typed_uris(arguments: &Arguments) -> impl Iterator<Item = &str> {
    let list = arguments.text("uris").map(|list| list.split(',').map(str::trim));
    let one = if list.is_none() { arguments.text("uri") } else { None };
    list.into_iter().flatten().chain(one)
}

/// Parameters of a URI that scenarios also have.
const PARAMETERS: [&str; 3] = ["heartbeat", "frame_max", "channel_max"];

fn is_known(parameter: &str) -> bool {
    PARAMETERS.contains(&parameter)
}

/// Notes all other parameters, which PerfTest accepts.
fn note_parameters(arguments: &Arguments, draft: &mut Draft) {
    let queries = typed_uris(arguments).filter_map(|uri| uri.split_once('?'));
    let names = queries.flat_map(|(_, query)| query.split('&')).map(name_of);
    let other: BTreeSet<_> = names.filter(|name| !name.is_empty() && !is_known(name)).collect();
    for name in other {
        draft.note(format!("`{name}` of the broker's URI is left out: it means nothing here"));
    }
}

fn name_of(parameter: &str) -> &str {
    parameter.split('=').next().unwrap_or(parameter)
}

/// Returns the URI with the parameters for which `stays` is true.
fn with_parameters(uri: &str, stays: impl Fn(&str) -> bool) -> String {
    let Some((head, query)) = uri.split_once('?') else { return uri.to_owned() };
    let kept: Vec<_> = query.split('&').filter(|pair| stays(name_of(pair))).collect();
    if kept.is_empty() { head.to_owned() } else { format!("{head}?{}", kept.join("&")) }
}

fn connecting(arguments: &Arguments, broker: &mut Section) -> Result<(), PerfTestError> {
    let timeout = arguments.limit("servers-startup-timeout")?;
    broker.set_some("startup-timeout", timeout.map(|seconds| format!("{seconds}s")));
    if arguments.has("tcp-no-delay") {
        broker.set("nodelay", arguments.switch("tcp-no-delay", true));
    }
    // With a thread for each connection, PerfTest sets both buffers.
    let is_nio = arguments.limit("nio-threads")?.or(arguments.limit("nio-thread-pool")?).is_some();
    let default = if is_nio { 0 } else { SOCKET_BUFFER };
    set_buffers(broker, |option| Ok(arguments.number(option)?.unwrap_or(default)))
}

/// Writes the recovery of connections. PerfTest recovers by default.
fn recovery(
    arguments: &Arguments,
    broker: &mut Section,
    draft: &mut Draft,
) -> Result<(), PerfTestError> {
    if arguments.has("disable-connection-recovery") {
        return Ok(());
    }
    broker.set("recovery", true);
    let interval = arguments.text("connection-recovery-interval").unwrap_or("5");
    let (first, last) = interval.split_once('-').unwrap_or((interval, interval));
    let number = |text: &str| text.parse::<u32>().ok();
    match (number(first), number(last)) {
        (Some(first), Some(last)) if first == last && !interval.contains('-') => {}
        (Some(first), Some(last)) if first < last => {
            draft.note("--connection-recovery-interval: from the first to the last by doubling");
        }
        _ => return invalid_value("connection-recovery-interval", interval, "`30` or `30-60`"),
    }
    broker.set("recovery-delay", format!("{first}s"));
    broker.set("recovery-max-delay", format!("{last}s"));
    Ok(())
}

fn has_tls(arguments: &Arguments) -> bool {
    arguments.text("uris").or(arguments.text("uri")).is_some_and(|uris| uris.contains("amqps://"))
}

fn tls(arguments: &Arguments, draft: &mut Draft) -> Option<Section> {
    let mut tls = tls_of(arguments, has_tls(arguments), "amqps://", draft)?;
    if arguments.has("sasl-external") {
        tls.set("cert", "client.pem");
        tls.set("key", "client-key.pem");
    }
    // PerfTest trusts every broker unless an option selects the machine's authorities.
    if !arguments.has("use-default-ssl-context") {
        tls.set("verify", false);
    }
    Some(tls)
}

fn with_query(uri: &str, query: &[String]) -> String {
    if query.is_empty() {
        return uri.to_owned();
    }
    let sign = if uri.contains('?') { '&' } else { '?' };
    format!("{uri}{sign}{}", query.join("&"))
}

/// Replaces all characters of a name that scenarios do not allow.
pub(super) fn plain(name: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    name.chars().map(|c| if allowed(c) { c } else { '-' }).collect()
}
