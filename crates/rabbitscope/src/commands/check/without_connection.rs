//! The reason why nothing is read from inside a node.

use rabbitscope_diagnosis::{Source, Unread};

/// Returns the reason, with the options that help.
pub(super) fn without_connection(error: &anyhow::Error) -> Unread {
    let remedy = "give --node, and --cookie-file or RABBITSCOPE_COOKIE".to_owned();
    Unread { source: Source::Node, reason: format!("{error:#}"), remedy }
}
