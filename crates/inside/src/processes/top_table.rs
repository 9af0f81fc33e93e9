//! The rows of `top` as text.

use std::fmt;

use rabbitscope_text::{Align, Column, human_bytes, table};

use super::{
    microstates::Microstates,
    top::{Top, TopKind, TopRow},
};

impl fmt::Display for Top {
    /// Lines about the node, the table, and what is unknown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n\n{}\n\n{}", self.head(), self.table(), self.coverage())
    }
}

impl Top {
    /// The state of the node, in two lines.
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
                || "what they did is not known: somebody else has switched that accounting"
                    .to_owned(),
                Microstates::to_string
            ),
        )
    }

    /// The time that it is about, and what is not known.
    pub(super) fn coverage(&self) -> String {
        let reason = self.rates.reason(self.statistics_ms).unwrap_or_default();
        format!("over {:.1} s{reason}", self.interval_ms as f64 / 1000.0)
    }

    fn table(&self) -> String {
        let rows: Vec<_> = self.rows.iter().map(|row| row.cells(self.kind)).collect();
        table(self.kind.columns(), &rows)
    }
}

impl TopKind {
    /// Name of one and of several.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Processes => ("process", "processes"),
            Self::Queues => ("queue", "queues"),
            Self::Connections => ("connection", "connections"),
            Self::Channels => ("channel", "channels"),
        }
    }

    /// The columns of [`TopRow::cells`].
    pub(super) fn columns(self) -> [Column; 8] {
        use Align::{Left, Right};
        let costs =
            [("reductions/s", Right), ("memory", Right), ("binaries", Right), ("mailbox", Right)];
        let [cpu, memory, binaries, mailbox] = costs;
        if self == Self::Processes {
            let [pid, role, name] = [("pid", Left), ("role", Left), ("name", Left)];
            return [pid, role, name, cpu, memory, binaries, mailbox, ("now in", Left)];
        }
        let (title, vhost) = ((self.names().0, Left), ("vhost", Left));
        [title, vhost, cpu, memory, binaries, mailbox, ("in/s", Right), ("out/s", Right)]
    }
}

impl TopRow {
    pub(super) fn cells(&self, kind: TopKind) -> [String; 8] {
        match kind {
            TopKind::Processes => self.of_process(),
            _ => self.of_broker(kind == TopKind::Connections),
        }
    }

    /// Reductions, memory, binaries, mailbox.
    fn costs(&self) -> [String; 4] {
        [
            format!("{:.0}", self.reductions_per_second),
            human_bytes(self.memory_bytes),
            self.binary_bytes.map_or_else(unknown, human_bytes),
            self.mailbox.to_string(),
        ]
    }

    fn of_process(&self) -> [String; 8] {
        let [cpu, memory, binaries, mailbox] = self.costs();
        let role = self.role.clone().unwrap_or_default();
        let current = self.current_function.clone().unwrap_or_else(unknown);
        [self.pid.clone(), role, self.name.clone(), cpu, memory, binaries, mailbox, current]
    }

    fn of_broker(&self, in_bytes: bool) -> [String; 8] {
        let [cpu, memory, binaries, mailbox] = self.costs();
        let rate = |rate: Option<f64>| match rate {
            None => unknown(),
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "bytes a second, shown with three digits"
            )]
            Some(rate) if in_bytes => human_bytes(rate as u64),
            Some(rate) => format!("{rate:.0}"),
        };
        let vhost = self.vhost.clone().unwrap_or_default();
        let (into, out) = (rate(self.in_per_second), rate(self.out_per_second));
        [self.name.clone(), vhost, cpu, memory, binaries, mailbox, into, out]
    }
}

fn unknown() -> String {
    "-".to_owned()
}
