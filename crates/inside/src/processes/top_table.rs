//! The rows of `top` as text.

use std::fmt;

use rabbitscope_text::{Align, Column, human_bytes, table_of_rows};

use super::{
    microstates::Microstates,
    top::{Top, TopKind, TopRow},
    top_notes::{Churn, LongMailbox, SilentProcess},
};

impl fmt::Display for Top {
    /// Writes lines about the node, the table, and the unknown data.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n\n{}\n\n{}", self.head(), self.table(), self.coverage())
    }
}

impl Top {
    /// Returns the state of the node in two lines.
    pub(super) fn head(&self) -> String {
        let used = self.scheduler_use.map_or_else(String::new, |share| {
            format!("schedulers {:.0} % of {}, ", share * 100.0, self.schedulers_online)
        });
        format!(
            "{}  {used}run queue {}, memory {}, {} {}\n{}",
            self.node,
            self.run_queue,
            human_bytes(self.memory_bytes),
            self.candidates,
            self.kind.names().1,
            self.microstates.as_ref().map_or_else(
                || "thread activity is unknown, because another program switched its accounting"
                    .to_owned(),
                Microstates::to_string
            ),
        )
    }

    /// Returns the interval, the unknown data, and the other notes.
    fn coverage(&self) -> String {
        std::iter::once(self.interval()).chain(self.notes()).collect::<Vec<_>>().join("\n")
    }

    /// Returns the interval and the reason for unknown rates.
    pub(super) fn interval(&self) -> String {
        let reason = self.rates.reason(self.statistics_ms).unwrap_or_default();
        format!("over {:.1} s{reason}", self.interval_ms as f64 / 1000.0)
    }

    /// Returns notes, the most important first.
    pub(super) fn notes(&self) -> Vec<String> {
        let silent = self.silent.iter().map(SilentProcess::sentence);
        let is_overloaded = self.run_queue > self.schedulers_online;
        let late = self.late.iter().map(|process| process.sentence(is_overloaded));
        let mailbox = self.longest_mailbox.as_ref().map(LongMailbox::sentence);
        let churn = self.churn.and_then(Churn::sentence);
        let own = (self.own_processes > 0)
            .then(|| format!("without the {} processes of this program", self.own_processes));
        let others = mailbox.into_iter().chain(self.limits.warnings()).chain(churn).chain(own);
        silent.chain(late).chain(others).collect()
    }

    fn table(&self) -> String {
        let rows: Vec<_> = self.rows.iter().map(|row| row.cells(self.kind)).collect();
        table_of_rows(&self.kind.columns(), &rows)
    }
}

impl TopKind {
    /// Returns the singular and plural names.
    pub(super) fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Processes => ("process", "processes"),
            Self::Queues => ("queue", "queues"),
            Self::Connections => ("connection", "connections"),
            Self::Channels => ("channel", "channels"),
        }
    }

    /// Returns the columns of [`TopRow::cells`].
    pub(super) fn columns(self) -> Vec<Column> {
        use Align::{Left, Right};
        let (title, vhost) = ((self.names().0, Left), ("vhost", Left));
        let (client, user, unacked) = (("client", Left), ("user", Left), ("unacked", Right));
        let before: &[Column] = match self {
            Self::Processes => &[("pid", Left), ("role", Left), ("name", Left)],
            Self::Queues => &[title, vhost, ("ready", Right), unacked],
            Self::Connections => &[title, client, user, vhost],
            Self::Channels => &[title, client, user, vhost, unacked, ("prefetch", Right)],
        };
        let costs =
            [("reductions/s", Right), ("memory", Right), ("binaries", Right), ("mailbox", Right)];
        let after: &[Column] = match self {
            Self::Processes => &[("now in", Left)],
            _ => &[("in/s", Right), ("out/s", Right)],
        };
        [before, &costs, after].concat()
    }
}

impl TopRow {
    pub(super) fn cells(&self, kind: TopKind) -> Vec<String> {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let number = |number: Option<u64>| number.map_or_else(unknown, |number| number.to_string());
        let name = self.name.clone();
        let (client, user, vhost) = (text(&self.client), text(&self.user), text(&self.vhost));
        let before = match kind {
            TopKind::Processes => vec![self.pid.clone(), text(&self.role), name],
            TopKind::Queues => vec![name, vhost, number(self.ready), number(self.unacknowledged)],
            TopKind::Connections => vec![name, client, user, vhost],
            TopKind::Channels => {
                let prefetch = match self.prefetch {
                    Some(0) => "unlimited".to_owned(),
                    prefetch => number(prefetch),
                };
                vec![name, client, user, vhost, number(self.unacknowledged), prefetch]
            }
        };
        let after = match kind {
            TopKind::Processes => vec![self.current_function.clone().unwrap_or_else(unknown)],
            _ => self.rates(kind == TopKind::Connections).to_vec(),
        };
        [before, self.costs().to_vec(), after].concat()
    }

    /// Returns the cells for reductions, memory, binaries and mailbox.
    fn costs(&self) -> [String; 4] {
        [
            format!("{:.0}", self.reductions_per_second),
            human_bytes(self.memory_bytes),
            self.binary_bytes.map_or_else(unknown, human_bytes),
            self.mailbox.to_string(),
        ]
    }

    /// Returns the cells for incoming and outgoing rates.
    fn rates(&self, in_bytes: bool) -> [String; 2] {
        [self.in_per_second, self.out_per_second].map(|rate| match rate {
            None => unknown(),
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "bytes a second, shown with three digits"
            )]
            Some(rate) if in_bytes => human_bytes(rate as u64),
            Some(rate) => format!("{rate:.0}"),
        })
    }
}

fn unknown() -> String {
    "-".to_owned()
}
