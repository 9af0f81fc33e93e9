//! The two files as TOML, with remarks.

use std::fmt::{Display, Write as _};

use rabbitscope_text::escapes;

use super::{
    arm::{Arm, Proof},
    load::{Churn, Confirms, Consumers, Figure, Group, Load, Poller, Publishers, Settling},
    settings::BrokerSettings,
};
use crate::case::QueueKind;

/// Rounds of an experiment, and the looks at its result: eight are the fewest with which a look can decide.
const ROUNDS: &str = "rounds = 12\nlooks = [8, 12]\nindifferent = \"3%\"\ncontrol = false\n";
/// Seconds of a load without figures.
const WARM_UP: u64 = 3;

/// Returns the experiment as TOML.
pub(super) fn experiment(
    name: &str,
    description: &str,
    (scenario_name, load): (&str, &str),
    proof: &Proof,
) -> String {
    let (primary, secondary) = proof.metric.names();
    let secondary: Vec<String> = secondary.iter().map(|metric| string(metric)).collect();
    let mut text = String::from(
        "# Written by `rabbitscope check`. To run it: rabbitscope experiment FILE\n\
         # It starts brokers of its own, and uses none that runs.\n",
    );
    let _ = writeln!(text, "# The load is {}.", escapes::value(load));
    for (key, value) in [
        ("name", string(name)),
        ("description", string(description)),
        ("base", string(scenario_name)),
        ("seed", "1".to_owned()),
        ("primary", string(primary)),
        ("secondary", format!("[{}]", secondary.join(", "))),
    ] {
        let _ = writeln!(text, "{key} = {value}");
    }
    let _ = write!(text, "\n[design]\n{ROUNDS}");
    text += &arm("observed", &proof.observed);
    text += &arm("changed", &proof.changed);
    text
}

fn arm(name: &str, arm: &Arm) -> String {
    let mut text = format!("\n[[arms]]\nname = \"{name}\"\n");
    if !arm.removed.is_empty() {
        let lines: Vec<String> = arm.overrides().map(|line| string(&line)).collect();
        let _ = writeln!(text, "set = [{}]", lines.join(", "));
    } else if !arm.set.is_empty() {
        let keys: Vec<String> =
            arm.set.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        let _ = writeln!(text, "set = {{ {} }}", keys.join(", "));
    }
    if let Some(broker) = &arm.broker {
        text += &plugins(broker);
        text += &broker_texts(broker, true);
    }
    text
}

fn plugins(broker: &BrokerSettings) -> String {
    if broker.plugins.is_empty() {
        return String::new();
    }
    let plugins: Vec<String> = broker.plugins.iter().map(|plugin| string(plugin)).collect();
    format!("plugins = [{}]\n", plugins.join(", "))
}

/// Returns the texts of the broker's configuration. An arm also has the empty ones, to replace those of the scenario.
fn broker_texts(broker: &BrokerSettings, with_empty: bool) -> String {
    let texts = [
        ("config", broker.config_text()),
        ("advanced-config", broker.advanced_text()),
        ("erl-args", broker.flags_text()),
    ];
    let mut lines = String::new();
    for (key, text) in texts.iter().filter(|(_, text)| with_empty || !text.is_empty()) {
        let _ = writeln!(lines, "{key} = {}", string(text));
    }
    lines
}

/// Returns the scenario as TOML.
pub(super) fn scenario(name: &str, load: &Load) -> String {
    let mut text = String::new();
    for remark in &load.remarks {
        let _ = writeln!(text, "# {}", escapes::value(remark));
    }
    let _ = writeln!(text, "name = {}", string(name));
    text += &broker(&load.broker);
    let _ = write!(text, "\n[run]\nduration = \"{}s\"\nwarm-up = \"{WARM_UP}s\"\n", load.seconds);
    for group in &load.groups {
        text += &queues(group);
    }
    // The arms refer to the first publishers and the first consumers, which are those of the first group.
    for group in &load.groups {
        text += &publishers(group, &group.publishers);
    }
    for group in &load.groups {
        text += &group.consumers.as_ref().map_or_else(String::new, |own| consumers(group, own));
    }
    for group in &load.groups {
        text += &backlog(group);
    }
    text += &load.churn.as_ref().map_or_else(String::new, churn);
    text += &load.poller.as_ref().map_or_else(String::new, poller);
    text
}

fn broker(broker: &BrokerSettings) -> String {
    let mut text = String::new();
    if broker.nodes > 1 {
        let _ = writeln!(text, "nodes = {}", broker.nodes);
    }
    text += &plugins(broker);
    text += &broker_texts(broker, false);
    for (name, definition) in &broker.policies {
        let _ = writeln!(
            text,
            "policies = [{{ name = {}, pattern = \".*\", definition = {}, apply-to = \"queues\" }}]",
            string(name),
            string(definition)
        );
    }
    if text.is_empty() { text } else { format!("\n[broker]\n{text}") }
}

/// Returns the name of a group's queues, which are numbered.
fn set_name(group: &Group) -> &'static str {
    match group.kind {
        QueueKind::Quorum => "quorum-{}",
        QueueKind::Stream => "stream-{}",
        QueueKind::Classic | QueueKind::Other => "classic-{}",
    }
}

fn queues(group: &Group) -> String {
    let kind = set_name(group).trim_end_matches("-{}");
    let mut text = format!("\n[[queues]]\nname = \"{}\"\ntype = \"{kind}\"\n", set_name(group));
    text += &line("to", &group.queues);
    if kind == "classic" {
        let _ = writeln!(text, "durable = {}", group.is_durable);
    }
    let arguments: Vec<String> =
        group.arguments.iter().map(|(key, value)| format!("{key} = {value}")).collect();
    if !arguments.is_empty() {
        let _ = writeln!(text, "arguments = {{ {} }}", arguments.join(", "));
    }
    text
}

fn publishers(group: &Group, publishers: &Publishers) -> String {
    let mut text = format!("\n[[publishers]]\nqueue = \"{}\"\n", set_name(group));
    text += &line("count", &publishers.count);
    text += &line("connections", &publishers.connections);
    text += &size(publishers);
    match &publishers.confirms {
        Confirms::Window(window) => text += &line("confirm-window", window),
        Confirms::No | Confirms::OfArm => {}
    }
    if let Some(rate) = &publishers.rate {
        let each = (rate.value / publishers.count.value as f64).clamp(0.001, 1e6);
        let each = (each * 1e3).round() / 1e3;
        text += &line("rate", &Figure::noted(each, rate.note.clone()));
    }
    text
}

fn size(publishers: &Publishers) -> String {
    let Figure { value, note } = &publishers.size_bytes;
    let mut text = line("size", &Figure::noted(format!("\"{value}B\""), note.clone()));
    let persistent = Figure::noted(publishers.is_persistent, "assumed, as the queues are");
    text += &line("persistent", &persistent);
    text
}

fn consumers(group: &Group, consumers: &Consumers) -> String {
    let mut text = format!("\n[[consumers]]\nqueue = \"{}\"\n", set_name(group));
    text += &line("count", &consumers.count);
    text += &line("connections", &consumers.connections);
    let processing = &consumers.processing_us;
    match &consumers.settling {
        Settling::Automatic => text += "auto-ack = true\n",
        Settling::Polling { pause_us } => {
            text += "polling = true\n";
            text += &line("poll-interval", &micros(pause_us));
        }
        Settling::Acknowledged { prefetch, each } => {
            if prefetch.value > 0 {
                text += &line("prefetch", prefetch);
                text += &line("processing-time", &micros(processing));
            }
            text += &line("multi-ack-every", each);
        }
    }
    if group.backlog.is_some() {
        text += "start-delay = \"1s\"\n";
    }
    text
}

fn backlog(group: &Group) -> String {
    let Some(backlog) = &group.backlog else { return String::new() };
    let mut text = format!(
        "\n# Messages that wait when the consumers start.\n[[publishers]]\nqueue = \"{}\"\n",
        set_name(group)
    );
    text += &line("messages", backlog);
    text += &size(&group.publishers);
    text += "confirm-window = 1000\n";
    text
}

fn churn(churn: &Churn) -> String {
    let mut text = format!("\n[[churn]]\nkind = \"{}\"\n", churn.kind);
    text += &line("rate", &churn.rate);
    text
}

fn poller(poller: &Poller) -> String {
    let mut text = format!("\n[[pollers]]\nurl = {}\n", string(poller.path));
    let Figure { value, note } = &poller.interval_ms;
    text += &line("interval", &Figure::noted(format!("\"{value}ms\""), note.clone()));
    text
}

fn micros(time: &Figure<u64>) -> Figure<String> {
    Figure::noted(format!("\"{}us\"", time.value), time.note.clone())
}

/// Returns a line with its remark.
fn line<T: Display>(key: &str, figure: &Figure<T>) -> String {
    match figure.note.as_str() {
        "" => format!("{key} = {}\n", figure.value),
        note => format!("{key} = {} # {}\n", figure.value, escapes::value(note)),
    }
}

/// Quotes any text as a basic string of TOML (TOML 1.0, "String").
pub(super) fn string(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            letter if letter.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(letter));
            }
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}
