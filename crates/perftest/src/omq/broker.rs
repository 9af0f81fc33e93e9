//! The run and the broker of a scenario.

use crate::{
    PerfTestError,
    arguments::Arguments,
    broker::{broker_of, run_of},
    error::invalid_value,
    uris::amqp_uri,
    values::{duration, written},
    writer::{Draft, Section},
};

/// Writes the run and the broker. Returns the URIs that were given.
pub(super) fn write(
    arguments: &Arguments,
    draft: &mut Draft,
) -> Result<Vec<String>, PerfTestError> {
    let mut head = Section::new("");
    head.set("name", "omq");
    draft.push(head);
    let run = run(arguments, draft)?;
    draft.push(run);
    let uris = uris(arguments, draft);
    let usual = ["amqp://localhost".to_owned()];
    let mut broker = broker_of(if uris.is_empty() { &usual } else { &uris });
    broker.set("recovery", true);
    draft.push(broker);
    if arguments.has("tls-skip-verify") && uris.iter().any(|uri| uri.starts_with("amqps://")) {
        let mut tls = Section::new("[broker.tls]");
        tls.set("verify", false);
        draft.push(tls);
    }
    Ok(uris)
}

fn run(arguments: &Arguments, draft: &mut Draft) -> Result<Section, PerfTestError> {
    let time = match arguments.text("time").map(|text| (text, duration(text))) {
        Some((text, None)) => return invalid_value("time", text, "a time such as `30s` or `5m`"),
        time => time.and_then(|(_, time)| time).filter(|time| !time.is_zero()),
    };
    let mut run = run_of(arguments, time.map(written), draft)?;
    let checks = ["detect-out-of-order-messages", "detect-gaps-in-messages"];
    let has_both = arguments.count("publishers")? > 0 && arguments.count("consumers")? > 0;
    let is_checked = checks.into_iter().any(|option| arguments.has(option));
    if is_checked && !has_both {
        draft.note("`run.verify` needs publishers and consumers: it is left out");
    }
    run.set_if("verify", is_checked && has_both);
    Ok(run)
}

/// Returns the URIs of AMQP 0-9-1, by which queues are declared: `--management-uri`, else those of the clients.
fn uris(arguments: &Arguments, draft: &mut Draft) -> Vec<String> {
    let options = ["management-uri", "uri", "publisher-uri", "consumer-uri"];
    let given: Vec<_> = options.into_iter().filter(|option| arguments.has(option)).collect();
    let Some(first) = given.first() else { return Vec::new() };
    let list = |option: &str| -> Vec<String> {
        let all = arguments.all(option).iter().flat_map(|list| list.split(','));
        all.map(|uri| amqp_uri(uri.trim())).collect()
    };
    let uris = list(first);
    for other in given[1..].iter().filter(|other| list(other) != uris) {
        draft.note(format!("--{other}: a run has one broker, that of --{first}"));
    }
    uris
}
