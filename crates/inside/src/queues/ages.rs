//! The greatest ages of queues' figures, per queue type.

use std::time::Duration;

use super::{QueueRow, QueueSource};

/// Intervals at which queues of each type write their figures into the tables of their node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgeLimits {
    /// Interval of classic queues.
    pub classic: Duration,
    /// Interval of quorum queues.
    pub quorum: Duration,
    /// Interval of streams.
    pub stream: Duration,
}

impl AgeLimits {
    /// Returns the types of these queues whose figures come from tables, with their greatest age.
    pub(super) fn of_tables<'a>(
        self,
        source: QueueSource,
        rows: &'a [&QueueRow],
    ) -> impl Iterator<Item = (&'static str, Duration)> + 'a {
        let exact = source == QueueSource::Queues;
        let types = [
            ("classic", self.classic, exact),
            ("quorum", self.quorum, exact),
            // A stream has no process that could answer.
            ("stream", self.stream, false),
        ];
        types
            .into_iter()
            .filter(|(kind, _, exact)| !exact && rows.iter().any(|row| *row.kind == **kind))
            .map(|(kind, limit, _)| (kind, limit))
    }

    /// Returns a phrase with the source and the greatest age of the figures.
    pub(super) fn words(self, source: QueueSource, rows: &[&QueueRow]) -> String {
        let limits: Vec<_> = self.of_tables(source, rows).collect();
        let seconds = |limit: Duration| limit.as_millis().div_ceil(1000);
        let one = |(kind, limit): &(&str, Duration)| format!("{kind} {} s", seconds(*limit));
        let each = || limits.iter().map(one).collect::<Vec<_>>().join(", ");
        match (source, limits.as_slice()) {
            (QueueSource::Tables, []) => "from the node's tables".to_owned(),
            (QueueSource::Tables, [(_, first), rest @ ..])
                if rest.iter().all(|(_, limit)| limit == first) =>
            {
                format!("from the node's tables, at most {} s old", seconds(*first))
            }
            (QueueSource::Tables, _) => {
                format!("from the node's tables; maximum age: {}", each())
            }
            (QueueSource::Queues, []) => "from the queues themselves".to_owned(),
            (QueueSource::Queues, _) => format!(
                "from the queues themselves, the rest from the node's tables; maximum age: {}",
                each()
            ),
        }
    }
}
