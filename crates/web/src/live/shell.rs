//! The data in the shell of a live page.

use serde::Serialize;

/// Facts that a live page needs before its first event.
#[derive(Clone, Debug, Serialize)]
pub struct LivePage {
    /// Title of the page.
    pub title: String,
    /// True if there will be profiles.
    pub profile: bool,
}
