//! Strings that many rows share: virtual hosts, types, nodes, states.

use std::sync::Arc;

/// Maximum number of shared strings. Each row searches them one after another, and a broker has few virtual hosts,
/// types, nodes and states. Strings after the first sixteen get copies of their own.
const MAX_SHARED: usize = 16;

/// The shared strings.
#[derive(Debug, Default)]
pub(super) struct SharedStrings(Vec<Arc<str>>);

impl SharedStrings {
    /// Returns the string, without a new allocation if it is shared.
    pub(super) fn share(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.0.iter().find(|known| ***known == *text) {
            return Arc::clone(known);
        }
        let text = Arc::from(text);
        if self.0.len() < MAX_SHARED {
            self.0.push(Arc::clone(&text));
        }
        text
    }
}
