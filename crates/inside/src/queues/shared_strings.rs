//! Strings that many rows have in common: virtual hosts, types, nodes, states.

use std::sync::Arc;

/// Most strings that are shared. They are searched one after the other for each row, and a broker has few
/// virtual hosts, types, nodes and states; what comes after the first sixteen gets a copy of its own.
const MAX_SHARED: usize = 16;

/// The strings that are shared.
#[derive(Debug, Default)]
pub(super) struct SharedStrings(Vec<Arc<str>>);

impl SharedStrings {
    /// The string, without a new allocation if it is a shared one.
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
