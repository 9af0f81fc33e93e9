//! Selection and order of the queues in a listing.

use std::cmp::Reverse;

use super::QueueRow;

/// Selects queues; all of them by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueFilter {
    /// Only those in this virtual host.
    pub vhost: Option<String>,
    /// Only those whose name contains this text.
    pub name: Option<String>,
}

/// The column that rows are sorted by; the largest numbers come first. Each heading of the table is a word for one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum SortKey {
    /// Virtual host and name
    #[default]
    #[value(aliases = ["queue", "vhost"])]
    Name,
    /// Type
    Type,
    /// State
    State,
    /// Node of the leader
    Node,
    /// Messages ready for a consumer
    Ready,
    /// Messages delivered and not yet acknowledged
    #[value(alias = "unacked")]
    Unacknowledged,
    /// Consumers
    Consumers,
    /// Memory of the queue's process
    Memory,
}

/// One page of the sorted rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// Number of the page, from 1.
    pub number: u32,
    /// Rows per page; `None` puts all rows on one page.
    pub size: Option<u32>,
}

impl QueueFilter {
    pub(super) fn includes(&self, row: &QueueRow) -> bool {
        self.vhost.as_ref().is_none_or(|vhost| **vhost == *row.vhost)
            && self.name.as_ref().is_none_or(|part| row.name.contains(part.as_str()))
    }
}

impl SortKey {
    /// Returns the key for `name` or another `--sort` word.
    pub fn parse(text: &str) -> Option<Self> {
        clap::ValueEnum::from_str(text, false).ok()
    }

    fn value(self, row: &QueueRow) -> Option<u64> {
        match self {
            Self::Name | Self::Type | Self::State | Self::Node => None,
            Self::Ready => row.ready,
            Self::Unacknowledged => row.unacknowledged,
            Self::Consumers => row.consumers,
            Self::Memory => row.memory_bytes,
        }
    }

    /// Returns the text to sort by; absent if the key is a number or the name.
    fn text(self, row: &QueueRow) -> Option<&str> {
        match self {
            Self::Type => Some(&row.kind),
            Self::State => Some(row.state.as_deref().unwrap_or("~")),
            Self::Node => Some(&row.node),
            _ => None,
        }
    }

    /// Sorts the rows. Rows without a value come last, equal rows are sorted by name.
    pub(super) fn sort(self, rows: &mut [&QueueRow]) {
        rows.sort_by(|left, right| {
            let key = |row: &QueueRow| Reverse(self.value(row));
            let left_key = (key(left), self.text(left), &left.vhost, &left.name);
            left_key.cmp(&(key(right), self.text(right), &right.vhost, &right.name))
        });
    }
}

impl Page {
    pub(super) fn slice<'a, 'b>(self, rows: &'b [&'a QueueRow]) -> &'b [&'a QueueRow] {
        let size = self.size.map_or(rows.len(), |size| size as usize);
        let start = size.saturating_mul(self.number.saturating_sub(1) as usize).min(rows.len());
        &rows[start..rows.len().min(start.saturating_add(size))]
    }
}
