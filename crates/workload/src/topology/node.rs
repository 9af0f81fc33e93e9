//! Version and settings of a node. Only settings of a closed list are kept, and only plain terms, so that none can be a
//! password or an address.

use std::collections::BTreeMap;

use rabbitscope_text::{escapes, is_plain_term};
use serde::{Deserialize, Serialize};

/// Version of a node, and its settings that change the cost of messages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct NodeFacts {
    /// Version of RabbitMQ, such as `3.10.8`; empty if it is unknown.
    version: String,
    /// Release of OTP, such as `25`; empty if it is unknown.
    otp: String,
    /// Settings of the application `rabbit` as Erlang terms without spaces.
    #[serde(default)]
    settings: BTreeMap<String, String>,
}

/// The place of a setting in a scenario.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// A line of `rabbitmq.conf`.
    Config,
    /// A term of `advanced.config`.
    Advanced,
    /// None: it belongs to the machine, or the release has its own value.
    None,
}

/// The closed list: key, usual value, and place in a scenario. A usual value of `rabbit.app.src` is no difference.
const SETTINGS: [(&str, &str, Place); 12] = [
    ("background_gc_enabled", "false", Place::Advanced),
    ("classic_queue_default_version", "", Place::None),
    ("collect_statistics", "none", Place::Config),
    ("collect_statistics_interval", "5000", Place::Config),
    ("consumer_timeout", "", Place::None),
    ("credit_flow_default_credit", "{400,200}", Place::Advanced),
    ("msg_store_credit_disc_bound", "{4000,800}", Place::Advanced),
    ("msg_store_file_size_limit", "16777216", Place::Advanced),
    ("queue_index_embed_msgs_below", "4096", Place::Advanced),
    ("quorum_commands_soft_limit", "32", Place::Advanced),
    ("vm_memory_high_watermark", "", Place::None),
    ("vm_memory_high_watermark_paging_ratio", "", Place::None),
];

/// A fact about the broker that differs between two loads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct BrokerDifference {
    /// `RabbitMQ`, `OTP`, or the name of a setting.
    pub(crate) name: String,
    pub(crate) source: String,
    pub(crate) run: String,
}

impl NodeFacts {
    /// Takes what is known of a node. Settings beyond the list, and those that are no plain terms, are left out.
    pub fn new(version: &str, otp: &str, settings: &BTreeMap<String, String>) -> Self {
        let known = SETTINGS.iter().filter_map(|(key, ..)| {
            let term: String = settings.get(*key)?.split_whitespace().collect();
            is_plain_term(&term).then(|| ((*key).to_owned(), term))
        });
        Self { version: word(version), otp: word(otp), settings: known.collect() }
    }

    /// Returns whether the node keeps statistics, as far as it told its settings.
    pub(crate) fn keeps_statistics(&self) -> bool {
        self.settings.get("collect_statistics").is_some_and(|value| value != "none")
    }

    /// Returns the names of version and release.
    pub(crate) fn title(&self) -> String {
        match (self.version.as_str(), self.otp.as_str()) {
            (version, "") => format!("RabbitMQ {version}"),
            (version, otp) => format!("RabbitMQ {version} on OTP {otp}"),
        }
    }

    /// Returns settings that have another value than usual, and a place in a scenario.
    pub(crate) fn unusual(&self) -> Vec<(&str, &str)> {
        self.at(Place::Config).chain(self.at(Place::Advanced)).collect()
    }

    /// Returns the lines of `rabbitmq.conf` for them; empty without any.
    pub(crate) fn config(&self) -> String {
        let lines = self.at(Place::Config).map(|(key, value)| format!("{key} = {value}"));
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Returns the contents of `advanced.config` for them; empty without any.
    pub(crate) fn advanced_config(&self) -> String {
        let terms = self.at(Place::Advanced).map(|(key, value)| format!("{{{key}, {value}}}"));
        match &terms.collect::<Vec<_>>()[..] {
            [] => String::new(),
            terms => format!("[{{rabbit, [{}]}}].", terms.join(", ")),
        }
    }

    fn at(&self, place: Place) -> impl Iterator<Item = (&str, &str)> {
        let here = SETTINGS.iter().filter(move |(.., of)| *of == place);
        here.filter_map(|(key, usual, _)| {
            let value = self.settings.get(*key)?;
            (value != usual).then_some((*key, value.as_str()))
        })
    }

    /// Returns everything known of both nodes that differs.
    pub(crate) fn differences(&self, run: &Self) -> Vec<BrokerDifference> {
        let facts = [("RabbitMQ", &self.version, &run.version), ("OTP", &self.otp, &run.otp)];
        let settings = SETTINGS.iter().filter_map(|(key, ..)| {
            Some((*key, self.settings.get(*key)?, run.settings.get(*key)?))
        });
        let differs = |(_, source, run): &(&str, &String, &String)| {
            !source.is_empty() && !run.is_empty() && source != run
        };
        let different = facts.into_iter().chain(settings).filter(differs);
        different
            .map(|(name, source, run)| BrokerDifference {
                name: name.to_owned(),
                // A file that somebody else wrote may hold anything.
                source: escapes::value(source).to_string(),
                run: escapes::value(run).to_string(),
            })
            .collect()
    }
}

/// Returns a version, or nothing if it is another text.
fn word(text: &str) -> String {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || ".+-_".contains(letter);
    let is_word = text.len() <= 32 && text.chars().all(is_letter);
    if is_word { text.to_owned() } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(version: &str, settings: &[(&str, &str)]) -> NodeFacts {
        let settings = settings.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        NodeFacts::new(version, "25", &settings.collect())
    }

    #[test]
    fn only_listed_settings_with_plain_values_are_kept() {
        let facts = facts(
            "3.10.8",
            &[
                ("default_pass", "hunter2"),
                ("collect_statistics", "fine"),
                ("credit_flow_default_credit", "{800, 400}"),
                ("quorum_commands_soft_limit", "32"),
                ("consumer_timeout", "<<\"hunter2\">>"),
                ("msg_store_credit_disc_bound", "{1,2}}, {default_pass, hunter2"),
                ("vm_memory_high_watermark", "0.4"),
            ],
        );
        let kept: Vec<&str> = facts.settings.keys().map(String::as_str).collect();
        assert_eq!(
            kept,
            [
                "collect_statistics",
                "credit_flow_default_credit",
                "quorum_commands_soft_limit",
                "vm_memory_high_watermark"
            ]
        );
        assert_eq!(facts.config(), "collect_statistics = fine");
        assert_eq!(
            facts.advanced_config(),
            "[{rabbit, [{credit_flow_default_credit, {800,400}}]}]."
        );
        assert_eq!(facts.title(), "RabbitMQ 3.10.8 on OTP 25");
        assert_eq!(NodeFacts::new("1\"\nuri = x", "", &BTreeMap::new()), NodeFacts::default());
    }

    #[test]
    fn differences_are_those_of_known_facts() {
        fn check(one: &NodeFacts, other: &NodeFacts, expected: &[&str]) {
            let found = one.differences(other);
            assert_eq!(found.iter().map(|of| &*of.name).collect::<Vec<_>>(), expected);
        }
        let source = facts("3.10.8", &[("collect_statistics", "fine"), ("consumer_timeout", "1")]);
        check(&source, &source, &[]);
        let run = facts("4.0.5", &[("collect_statistics", "none")]);
        check(&source, &run, &["RabbitMQ", "collect_statistics"]);
        check(&source, &NodeFacts::default(), &[]);
    }
}
