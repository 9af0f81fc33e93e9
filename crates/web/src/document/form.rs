//! Fields whose values are in the address of the page, so that a link opens the same view.

use serde::Serialize;

/// Fields beside each other. The server of the page answers to their values.
#[derive(Serialize)]
pub(crate) struct Form {
    /// The purpose, for readers without sight.
    pub(crate) label: &'static str,
    pub(crate) fields: Vec<Field>,
}

/// A field.
#[derive(Serialize)]
pub(crate) struct Field {
    /// Key in the address.
    name: &'static str,
    label: &'static str,
    value: String,
    /// Values and their texts; empty for a field of free text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    options: Vec<(String, String)>,
}

impl Field {
    /// Creates a field of free text.
    pub(crate) fn text(name: &'static str, label: &'static str, value: &str) -> Self {
        Self::choice(name, label, value, Vec::new())
    }

    /// Creates a choice among values with their texts.
    pub(crate) fn choice(
        name: &'static str,
        label: &'static str,
        value: &str,
        options: Vec<(String, String)>,
    ) -> Self {
        Self { name, label, value: value.to_owned(), options }
    }
}
