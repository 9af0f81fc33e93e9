//! The event that a profile samples. The table of events is [`Event`]; a scenario allows those that can be recorded.

use std::sync::LazyLock;

use rabbitscope_profiles::Event;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

/// The event that a profile samples: one of [`Event::RECORDED`], in files by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProfileEvent(Event);

impl Default for ProfileEvent {
    fn default() -> Self {
        Self(Event::Cpu)
    }
}

impl From<ProfileEvent> for Event {
    fn from(ProfileEvent(event): ProfileEvent) -> Self {
        event
    }
}

impl Serialize for ProfileEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name())
    }
}

impl<'de> Deserialize<'de> for ProfileEvent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        static NAMES: LazyLock<Vec<&str>> =
            LazyLock::new(|| Event::RECORDED.into_iter().map(Event::name).collect());
        let name = String::deserialize(deserializer)?;
        let event = Event::RECORDED.into_iter().find(|event| event.name() == name);
        event.map(Self).ok_or_else(|| D::Error::unknown_variant(&name, &NAMES))
    }
}
