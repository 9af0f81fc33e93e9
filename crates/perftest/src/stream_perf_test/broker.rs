//! The run and the broker of a scenario.

use toml::Value;

use crate::{
    PerfTestError,
    arguments::Arguments,
    error::invalid_value,
    run::{plain, without_password},
    uris::{amqp_uri, with_parameter},
    values::capacity,
    writer::{Draft, Section},
};

/// Writes the run and the broker. Returns the URIs that were given.
pub(super) fn write(
    arguments: &Arguments,
    draft: &mut Draft,
) -> Result<Vec<String>, PerfTestError> {
    let mut head = Section::new("");
    head.set("name", arguments.text("id").map_or_else(|| "stream-perf-test".to_owned(), plain));
    draft.push(head);
    let run = run(arguments, draft)?;
    draft.push(run);
    let uris = uris(arguments);
    let mut broker = broker(arguments, &uris)?;
    recovery(arguments, &mut broker, draft)?;
    draft.push(broker);
    tls(arguments, &uris, draft);
    if arguments.has("uris") && !arguments.has("amqp-uri") {
        draft.note("streams are declared by AMQP 0-9-1, at the usual port of the same host");
    }
    let is_given = arguments.has("uris") || arguments.has("amqp-uri");
    Ok(if is_given { uris } else { Vec::new() })
}

fn run(arguments: &Arguments, draft: &mut Draft) -> Result<Section, PerfTestError> {
    let mut run = Section::new("[run]");
    let counted = arguments.limit("pmessages")?.or(arguments.limit("cmessages")?).is_some();
    match arguments.limit("time")? {
        Some(seconds) => run.set("duration", format!("{seconds}s")),
        None if counted => {}
        None => {
            draft.note("Stream PerfTest would run until stopped: here, for a day");
            run.set("duration", "24h");
        }
    }
    Ok(run)
}

/// Returns the URIs of AMQP 0-9-1. `--amqp-uri` has the place of the first one, and its stream port.
fn uris(arguments: &Arguments) -> Vec<String> {
    let typed = arguments.text("uris").unwrap_or("rabbitmq-stream://localhost:5552");
    let mut uris: Vec<_> = typed.split(',').map(|uri| amqp_uri(uri.trim())).collect();
    if let (Some(uri), Some(first)) = (arguments.text("amqp-uri"), uris.first_mut()) {
        let port = first.split_once("?stream_port=").map(|(_, port)| port.to_owned());
        *first = match port {
            Some(port) => with_parameter(uri, &format!("stream_port={port}")),
            None => uri.to_owned(),
        };
    }
    uris
}

fn broker(arguments: &Arguments, uris: &[String]) -> Result<Section, PerfTestError> {
    let mut broker = Section::new("[broker]");
    let heartbeat: Option<u32> = arguments.number("heartbeat")?;
    let shown = uris.iter().map(|uri| {
        let uri = without_password(uri);
        let parameter = heartbeat.map(|seconds| format!("heartbeat={seconds}"));
        parameter.map_or(uri.clone(), |parameter| with_parameter(&uri, &parameter))
    });
    let shown: Vec<String> = shown.collect();
    match shown.as_slice() {
        [uri] => broker.set("uri", uri.as_str()),
        _ => broker.set("uris", Value::from(shown)),
    }
    let timeout = arguments.limit("rpc-timeout")?;
    broker.set_some("connect-timeout", timeout.map(|seconds| format!("{seconds}s")));
    if !arguments.switch("tcp-no-delay", true) {
        broker.set("nodelay", false);
    }
    for (key, option) in
        [("send-buffer", "tcp-send-buffer-size"), ("receive-buffer", "tcp-receive-buffer-size")]
    {
        let bytes = capacity(arguments, option)?.filter(|bytes| *bytes > 0);
        broker.set_some(key, bytes.map(|bytes| format!("{bytes}B")));
    }
    Ok(broker)
}

/// Writes the recovery of connections, which the program always has: a first delay, and the delay of later attempts.
fn recovery(
    arguments: &Arguments,
    broker: &mut Section,
    draft: &mut Draft,
) -> Result<(), PerfTestError> {
    broker.set("recovery", true);
    let option = "connection-recovery-interval";
    let text = arguments.text(option).unwrap_or("5");
    let (first, later) = text.split_once(':').unwrap_or((text, text));
    let (Ok(first), Ok(later)) = (first.parse::<u32>(), later.parse::<u32>()) else {
        return invalid_value(option, text, "`5` or `5:10`");
    };
    if first != later {
        draft.note(
            "--connection-recovery-interval: delays double from the first one to the later one",
        );
    }
    broker.set("recovery-delay", format!("{first}s"));
    broker.set("recovery-max-delay", format!("{}s", later.max(first)));
    Ok(())
}

/// Writes TLS: the program trusts every broker.
fn tls(arguments: &Arguments, uris: &[String], draft: &mut Draft) {
    let names = arguments.text("server-name-indication");
    if !uris.iter().any(|uri| uri.starts_with("amqps://")) {
        if names.is_some() {
            draft.note("--server-name-indication means nothing without rabbitmq-stream+tls://");
        }
        return;
    }
    let mut tls = Section::new("[broker.tls]");
    let mut names = names.into_iter().flat_map(|names| names.split(',').map(str::trim));
    tls.set_some("server-name", names.next());
    if names.next().is_some() {
        draft.note("--server-name-indication: only the first name is used");
    }
    tls.set("verify", false);
    draft.push(tls);
}
