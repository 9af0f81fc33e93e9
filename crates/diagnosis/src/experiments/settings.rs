//! Settings of the observed broker that differ from the default and that a throwaway broker can have.

use std::collections::BTreeMap;

use rabbitscope_text::is_plain_term;

use crate::case::{Broker, Case, Vm};

/// Settings of a broker, in the words of their files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct BrokerSettings {
    /// Number of nodes; 0 or 1 for one.
    pub(super) nodes: u64,
    /// Enabled plugins.
    pub(super) plugins: Vec<&'static str>,
    /// Lines of `rabbitmq.conf`.
    pub(super) config: BTreeMap<String, String>,
    /// Terms of the application `rabbit` in `advanced.config`.
    pub(super) advanced: BTreeMap<String, String>,
    /// Flags of the VM with their values.
    pub(super) flags: BTreeMap<String, String>,
    /// Policies: name, and definition as JSON. They apply to all queues.
    pub(super) policies: Vec<(&'static str, &'static str)>,
}

/// Settings of `advanced.config` that change the cost of messages, with the default.
const ADVANCED: [(&str, &str); 5] = [
    ("credit_flow_default_credit", "{400,200}"),
    ("msg_store_credit_disc_bound", "{4000,800}"),
    ("quorum_commands_soft_limit", "32"),
    ("queue_index_embed_msgs_below", "4096"),
    ("background_gc_enabled", "false"),
];

/// Flags that a throwaway broker can have on another machine as well.
const FLAGS: [&str; 4] = ["+sbwt", "+sbwtdcpu", "+sbwtdio", "+zdbbl"];

impl BrokerSettings {
    /// Takes the settings of a case. A setting that is not one plain term is left out.
    pub(super) fn from_case(case: &Case) -> Self {
        let broker = case.broker.as_ref().ok();
        let mut settings = Self {
            config: broker.map(config).unwrap_or_default(),
            advanced: broker.map(advanced).unwrap_or_default(),
            flags: case.vm.as_ref().map(flags).unwrap_or_default(),
            ..Self::default()
        };
        if has_management(case) {
            settings.add_plugin("rabbitmq_management");
        }
        settings
    }

    pub(super) fn add_plugin(&mut self, plugin: &'static str) {
        if !self.plugins.contains(&plugin) {
            self.plugins.push(plugin);
        }
    }

    /// Returns the lines of `rabbitmq.conf`.
    pub(super) fn config_text(&self) -> String {
        let lines = self.config.iter().map(|(key, value)| format!("{key} = {value}"));
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Returns the contents of `advanced.config`; empty without settings.
    pub(super) fn advanced_text(&self) -> String {
        let terms: Vec<String> =
            self.advanced.iter().map(|(key, value)| format!("{{{key}, {value}}}")).collect();
        match terms.as_slice() {
            [] => String::new(),
            terms => format!("[{{rabbit, [{}]}}].", terms.join(", ")),
        }
    }

    /// Returns the arguments of the VM.
    pub(super) fn flags_text(&self) -> String {
        let flags = self.flags.iter().map(|(flag, value)| format!("{flag} {value}"));
        flags.collect::<Vec<_>>().join(" ")
    }
}

fn config(broker: &Broker) -> BTreeMap<String, String> {
    /// The default of `collect_statistics_interval` in milliseconds.
    const INTERVAL_MS: u64 = 5_000;
    let interval = broker.settings.statistics_interval_ms;
    let interval =
        interval.filter(|millis| *millis != INTERVAL_MS && (1..1 << 32).contains(millis));
    let interval = interval.map(|millis| ("collect_statistics_interval", millis.to_string()));
    let level = broker.settings.statistics.clone();
    let level = level.filter(|level| ["coarse", "fine"].contains(&level.as_str()));
    let level = level.map(|level| ("collect_statistics", level));
    let lines = interval.into_iter().chain(level);
    lines.map(|(key, value)| (key.to_owned(), value)).collect()
}

fn advanced(broker: &Broker) -> BTreeMap<String, String> {
    let other = |(key, default): &(&str, &str)| {
        let term = broker.settings.other.get(&format!("rabbit.{key}"))?;
        let term: String = term.split_whitespace().collect();
        (is_plain_term(&term) && term != *default).then(|| ((*key).to_owned(), term))
    };
    ADVANCED.iter().filter_map(other).collect()
}

fn flags(vm: &Vm) -> BTreeMap<String, String> {
    let is_known =
        |(flag, value): &&(String, String)| FLAGS.contains(&flag.as_str()) && is_word(value);
    vm.flags.iter().filter(is_known).cloned().collect()
}

/// Returns whether the node collects statistics for the management plugin.
fn has_management(case: &Case) -> bool {
    let of_processes = case.processes.as_ref().ok().into_iter().flat_map(|all| &all.rows);
    let of_cpu = case.cpu.as_ref().ok().into_iter().flat_map(|cpu| &cpu.processes);
    let mut roles = of_processes.map(|row| &row.role).chain(of_cpu.map(|row| &row.role));
    roles.any(|role| role == "mgmt_stats")
}

/// Returns whether a text is one word of letters, digits, `_` and `.`.
pub(super) fn is_word(text: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "_.".contains(letter);
    !text.is_empty() && text.len() <= 32 && text.chars().all(is_letter)
}
