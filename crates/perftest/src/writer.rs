//! Writing of TOML, line by line, in the order and form that a person would choose.

use rabbitscope_runs::scenario::Protocol;
use toml::Value;

/// The sections of a scenario, and notes on the conversion.
#[derive(Debug, Default)]
pub(super) struct Draft {
    notes: Vec<String>,
    sections: Vec<Section>,
}

/// A table: its heading and its lines.
#[derive(Debug)]
pub(super) struct Section {
    heading: &'static str,
    lines: Vec<String>,
}

impl Section {
    pub(super) fn new(heading: &'static str) -> Self {
        Self { heading, lines: Vec::new() }
    }

    pub(super) fn set(&mut self, key: &str, value: impl Into<Value>) {
        self.lines.push(format!("{key} = {}", value.into()));
    }

    /// Sets the protocol of a group, unless it is the default.
    pub(super) fn set_protocol(&mut self, protocol: Protocol) {
        if let (false, Ok(name)) = (protocol == Protocol::default(), Value::try_from(protocol)) {
            self.set("protocol", name);
        }
    }

    /// Sets the key if there is a value.
    pub(super) fn set_some(&mut self, key: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.set(key, value);
        }
    }

    /// Sets the key to `true` if the value is true; false is the default.
    pub(super) fn set_if(&mut self, key: &str, value: bool) {
        if value {
            self.set(key, true);
        }
    }
}

impl Draft {
    /// Adds a note for the reader.
    pub(super) fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }

    pub(super) fn push(&mut self, section: Section) {
        self.sections.push(section);
    }

    /// Takes out the notes; the text does not contain them.
    pub(super) fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for section in &self.sections {
            if !text.is_empty() {
                text.push('\n');
            }
            if !section.heading.is_empty() {
                text.extend([section.heading, "\n"]);
            }
            for line in &section.lines {
                text.extend([line, "\n"]);
            }
        }
        text
    }
}
