//! The run and the broker of a scenario.

use crate::{
    PerfTestError,
    arguments::Arguments,
    broker::{broker_of, run_of, set_buffers, tls_of},
    error::invalid_value,
    run::plain,
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
    let time = arguments.limit("time")?.map(|seconds| format!("{seconds}s"));
    let run = run_of(arguments, time, draft)?;
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
    let heartbeat: Option<u32> = arguments.number("heartbeat")?;
    let with_heartbeat = |uri: &String| match heartbeat {
        Some(seconds) => with_parameter(uri, &format!("heartbeat={seconds}")),
        None => uri.clone(),
    };
    let mut broker = broker_of(&uris.iter().map(with_heartbeat).collect::<Vec<_>>());
    let timeout = arguments.limit("rpc-timeout")?;
    broker.set_some("connect-timeout", timeout.map(|seconds| format!("{seconds}s")));
    if !arguments.switch("tcp-no-delay", true) {
        broker.set("nodelay", false);
    }
    set_buffers(&mut broker, |option| Ok(capacity(arguments, option)?.unwrap_or(0)))?;
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
    let has_tls = uris.iter().any(|uri| uri.starts_with("amqps://"));
    if let Some(mut tls) = tls_of(arguments, has_tls, "rabbitmq-stream+tls://", draft) {
        tls.set("verify", false);
        draft.push(tls);
    }
}
