//! A process, and waiting processes, as text.

use std::fmt;

use rabbitscope_text::{Align, counted, grouped, human_bytes, table};

use super::process_report::{Awaited, Known, ProcessReport, WaitingReport};

impl fmt::Display for ProcessReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows: Vec<_> =
            self.rows().into_iter().map(|(what, text)| [what.to_owned(), text]).collect();
        f.write_str(&table([("process", Align::Left), (" ", Align::Left)], &rows))
    }
}

impl ProcessReport {
    fn rows(&self) -> Vec<(&'static str, String)> {
        let unknown = || "not known".to_owned();
        let binaries = self.binaries.map_or_else(unknown, |(references, bytes)| {
            format!("{} by {} references", human_bytes(bytes), grouped(references))
        });
        let sizes = [self.memory_bytes, self.heap_bytes, self.stack_bytes].map(human_bytes);
        let [memory, heap, stack] = sizes;
        let mut rows = vec![
            ("pid", self.pid.clone()),
            ("name", self.name.clone()),
            ("role", self.role.clone()),
            ("status", format!("{}, priority {}", self.status, self.priority)),
            ("memory", format!("{memory}, heap {heap}, of it stack {stack}")),
            ("binaries", binaries),
            ("reductions", grouped(self.reductions)),
            ("mailbox", self.mailbox_text()),
            ("waits for", chain_text(&self.waits_for)),
            ("links", self.links.text()),
            ("monitors", self.monitors.text()),
            ("monitored by", self.monitored_by.text()),
            ("traps exits", if self.traps_exits { "yes" } else { "no" }.to_owned()),
            (
                "dictionary",
                self.dictionary_keys.as_ref().map_or_else(unknown, |keys| keys.join(", ")),
            ),
        ];
        let frames = self.stack.iter().enumerate();
        rows.extend(
            frames.map(|(index, frame)| (if index == 0 { "stack" } else { "" }, frame.clone())),
        );
        rows
    }

    fn mailbox_text(&self) -> String {
        let messages = counted(self.mailbox, "message");
        match &self.messages {
            None => format!("{messages}: too many to copy and inspect"),
            Some(kinds) if kinds.is_empty() => messages,
            Some(kinds) => {
                let kinds: Vec<_> =
                    kinds.iter().map(|(kind, count)| format!("{count} × {kind}")).collect();
                format!("{messages}: {}", kinds.join(", "))
            }
        }
    }
}

impl Known {
    fn text(&self) -> String {
        let more = if self.count > self.first.len() as u64 { " …" } else { "" };
        match self.count {
            0 => "none".to_owned(),
            count => format!("{count}: {}{more}", self.first.join(", ")),
        }
    }
}

fn chain_text(chain: &[Awaited]) -> String {
    let step = |awaited: &Awaited| match awaited {
        Awaited::Process(name) => name.clone(),
        Awaited::OneOf(names) => format!("one of {} (cannot be told)", names.join(", ")),
        Awaited::Circle => "a deadlock, unless a call times out".to_owned(),
    };
    if chain.is_empty() {
        return "nothing from another process, according to its stack".to_owned();
    }
    chain.iter().map(step).collect::<Vec<_>>().join(" → ")
}

impl fmt::Display for WaitingReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self.processes.iter().map(|process| {
            let waits = chain_text(&process.waits_for);
            [process.pid.clone(), process.role.clone(), process.name.clone(), waits]
        });
        let columns = ["pid", "role", "name", "waits for"].map(|title| (title, Align::Left));
        let rows: Vec<_> = rows.collect();
        write!(
            f,
            "{}  {} processes wait for the answer of another\n\n{}",
            self.node,
            grouped(self.waiting),
            table(columns, &rows)
        )
    }
}
