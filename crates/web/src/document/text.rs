//! Sentences, and the meaning of texts for their reader.

use serde::Serialize;

/// A sentence.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Sentence {
    text: String,
    tone: Tone,
    /// The word before the sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    badge: Option<&'static str>,
}

/// The meaning of a text for its reader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Tone {
    #[default]
    Plain,
    /// Less important than the rest.
    Soft,
    Good,
    /// Open: neither good nor bad.
    Undecided,
    /// Worth a look.
    Note,
    Warning,
    Bad,
}

impl Sentence {
    /// Creates a sentence.
    pub(crate) fn new(text: impl Into<String>, tone: Tone) -> Self {
        Self { text: text.into(), tone, badge: None }
    }

    /// Adds a word before the sentence.
    pub(crate) fn badge(self, badge: &'static str) -> Self {
        Self { badge: Some(badge), ..self }
    }
}
