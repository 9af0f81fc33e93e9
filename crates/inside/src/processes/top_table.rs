//! The rows of `top` as text.

use std::fmt;

use rabbitscope_text::{Align, human_bytes, table};

use super::{
    microstates::Microstates,
    top::{Top, TopKind, TopRow},
};

impl fmt::Display for Top {
    /// A line about the node, the table, and what is unknown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let used = self.scheduler_use.map_or_else(String::new, |share| {
            format!("schedulers {:.0} % of {}, ", share * 100.0, self.schedulers_online)
        });
        writeln!(
            f,
            "{}  {used}run queue {}, memory {}, {} {}\n{}\n",
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
        )?;
        f.write_str(&self.table())?;
        write!(f, "\n\nover {:.1} s", self.interval_ms as f64 / 1000.0)?;
        f.write_str(&self.rates.reason(self.statistics_ms).unwrap_or_default())
    }
}

impl Top {
    fn table(&self) -> String {
        use Align::{Left, Right};
        let common =
            [("reductions/s", Right), ("memory", Right), ("binaries", Right), ("mailbox", Right)];
        let [cpu, memory, binaries, mailbox] = common;
        if self.kind == TopKind::Processes {
            let columns = [
                ("pid", Left),
                ("role", Left),
                ("name", Left),
                cpu,
                memory,
                binaries,
                mailbox,
                ("now in", Left),
            ];
            return table(columns, &self.rows.iter().map(TopRow::of_process).collect::<Vec<_>>());
        }
        let title = self.kind.names().0;
        let columns = [
            (title, Left),
            ("vhost", Left),
            cpu,
            memory,
            binaries,
            mailbox,
            ("in/s", Right),
            ("out/s", Right),
        ];
        let in_bytes = self.kind == TopKind::Connections;
        table(columns, &self.rows.iter().map(|row| row.of_broker(in_bytes)).collect::<Vec<_>>())
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
}

impl TopRow {
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
