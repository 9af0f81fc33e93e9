//! The events that a profile samples. The table of events is [`Event`]; a scenario allows those that can be recorded.

use std::sync::LazyLock;

use rabbitscope_profiles::Event;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

/// The events that a profile samples: at least one of [`Event::RECORDED`], in its order. In files, their names with
/// commas between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileEvents(Vec<Event>);

impl ProfileEvents {
    /// Returns the events, without repetition.
    pub fn as_slice(&self) -> &[Event] {
        &self.0
    }
}

impl Default for ProfileEvents {
    fn default() -> Self {
        Self(vec![Event::Cpu])
    }
}

impl Serialize for ProfileEvents {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let names: Vec<&str> = self.0.iter().map(|event| event.name()).collect();
        serializer.serialize_str(&names.join(","))
    }
}

impl<'de> Deserialize<'de> for ProfileEvents {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        static NAMES: LazyLock<Vec<&str>> =
            LazyLock::new(|| Event::RECORDED.into_iter().map(Event::name).collect());
        let text = String::deserialize(deserializer)?;
        let names: Vec<&str> = text.split(',').map(str::trim).collect();
        if let Some(unknown) = names.iter().find(|name| !NAMES.contains(name)) {
            return Err(D::Error::unknown_variant(unknown, &NAMES));
        }
        let is_named = |event: &Event| names.contains(&event.name());
        Ok(Self(Event::RECORDED.into_iter().filter(is_named).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<ProfileEvents, serde_json::Error> {
        serde_json::from_value(text.into())
    }

    #[test]
    fn events_are_a_list_in_the_order_of_the_table() {
        let events = read("off-cpu, cpu,off-cpu").unwrap();
        assert_eq!(events.as_slice(), [Event::Cpu, Event::OffCpu]);
        assert_eq!(serde_json::to_value(&events).unwrap(), "cpu,off-cpu");
        assert_eq!(read("mmap").unwrap().as_slice(), [Event::Mmap]);
    }

    #[test]
    fn what_cannot_be_recorded_is_named() {
        for text in ["gpu", "cpu,gpu", "cpu,", "", "imported"] {
            let error = read(text).unwrap_err().to_string();
            let unknown = text.rsplit(',').next().unwrap();
            assert!(error.contains(&format!("unknown variant `{unknown}`")), "{text}: {error}");
        }
    }
}
