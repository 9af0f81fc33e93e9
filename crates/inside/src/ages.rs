//! How old figures of queues may be, by the type of the queue.

use std::time::Duration;

use super::{QueueRow, Source};

/// How often queues of each type write their figures into the tables of the node that they are on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgeLimits {
    /// Of classic queues.
    pub classic: Duration,
    /// Of quorum queues.
    pub quorum: Duration,
    /// Of streams.
    pub stream: Duration,
}

impl AgeLimits {
    /// The types among these queues of which the figures are from tables, and how old they may be.
    pub fn of_tables<'a>(
        self,
        source: Source,
        rows: &'a [&QueueRow],
    ) -> impl Iterator<Item = (&'static str, Duration)> + 'a {
        let exact = source == Source::Queues;
        let types = [
            ("classic", self.classic, exact),
            ("quorum", self.quorum, exact),
            // A stream has no process that could be asked.
            ("stream", self.stream, false),
        ];
        types
            .into_iter()
            .filter(|(kind, _, exact)| !exact && rows.iter().any(|row| *row.kind == **kind))
            .map(|(kind, limit, _)| (kind, limit))
    }

    /// Where figures are from, and how old they may be.
    pub fn words(self, source: Source, rows: &[&QueueRow]) -> String {
        let limits: Vec<_> = self.of_tables(source, rows).collect();
        let seconds = |limit: Duration| limit.as_millis().div_ceil(1000);
        let one = |(kind, limit): &(&str, Duration)| format!("{kind} {} s", seconds(*limit));
        let each = || limits.iter().map(one).collect::<Vec<_>>().join(", ");
        match (source, limits.as_slice()) {
            (Source::Tables, []) => "from the node's tables".to_owned(),
            (Source::Tables, [(_, first), rest @ ..]) if rest.iter().all(|(_, it)| it == first) => {
                format!("from the node's tables, at most {} s old", seconds(*first))
            }
            (Source::Tables, _) => format!("from the node's tables, at most so old: {}", each()),
            (Source::Queues, []) => "from the queues themselves".to_owned(),
            (Source::Queues, _) => format!(
                "from the queues themselves, but for those in their node's tables, at most so old: {}",
                each()
            ),
        }
    }
}
