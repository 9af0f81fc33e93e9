//! Targets of publishers and sources of consumers: `/queues/NAME`, `/exchanges/NAME/KEY`, topics.

use crate::{PerfTestError, error::invalid_value};

/// The usual target and source.
pub(super) const USUAL: &str = "/queues/omq-%d";

/// A target or a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// A queue, or one for each member.
    Queue(Name),
    /// An exchange and a routing key.
    Exchange { exchange: String, key: Name },
}

/// A name that may have the number of a member, from 0, in place of `%d`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name(pub(super) String);

impl Name {
    /// Returns whether each member has its own.
    pub(super) fn is_numbered(&self) -> bool {
        self.0.contains("%d")
    }

    /// Returns the name with the placeholder of scenarios.
    pub(super) fn placeholder(&self) -> String {
        self.0.replace("%d", "{}")
    }

    /// Returns the name of a member.
    pub(super) fn of_member(&self, member: i64) -> String {
        self.0.replace("%d", &member.to_string())
    }
}

impl Target {
    /// Reads a target of AMQP or of streams.
    pub(super) fn parse(option: &str, text: &str) -> Result<Self, PerfTestError> {
        let text = plain(option, text)?;
        let name = |text: &str| Name(text.to_owned());
        if let Some(rest) = text.strip_prefix("/exchanges/") {
            let (exchange, key) = rest.split_once('/').unwrap_or((rest, ""));
            return Ok(Self::Exchange { exchange: exchange.to_owned(), key: name(key) });
        }
        Ok(Self::Queue(name(text.strip_prefix("/queues/").unwrap_or(text))))
    }
}

/// Reads a topic of MQTT.
pub(super) fn topic(option: &str, text: &str) -> Result<Name, PerfTestError> {
    let text = plain(option, text)?;
    let text = text.strip_prefix("/exchange/amq.topic/").unwrap_or(text);
    Ok(Name(text.strip_prefix("/topic/").unwrap_or(text).to_owned()))
}

/// Refuses templates and lists, which have no counterpart.
fn plain<'a>(option: &str, text: &'a str) -> Result<&'a str, PerfTestError> {
    if text.contains("{{") || text.contains(',') || text.matches("%d").count() > 1 {
        return invalid_value(
            option,
            text,
            "one name with one `%d` at most: templates and lists have no counterpart",
        );
    }
    Ok(text)
}
