//! The first event of a live page.

use serde::Serialize;

use crate::document::Document;

/// A page of blocks before the first tick. Every block that ticks replace or extend is in it.
#[derive(Serialize)]
#[serde(transparent)]
pub struct LiveHead(pub(crate) Document);

impl LiveHead {
    /// Returns the event's data.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("blocks have only texts, numbers and lists")
    }
}
