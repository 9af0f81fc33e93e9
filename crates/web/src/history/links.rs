//! Addresses of the pages of runs.

use rabbitscope_analysis::history::Entry;

use crate::document::relative_link;

/// Returns the address of a page in the directory of an entry.
pub(super) fn page_of(entry: &Entry, page: &str) -> String {
    let path =
        if entry.path.is_empty() { page.to_owned() } else { format!("{}/{page}", entry.path) };
    relative_link(&format!("files/{path}"))
}
