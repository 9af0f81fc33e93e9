//! A memory report as text.

use std::fmt;

use rabbitscope_text::{Align, Column, grouped, human_bytes, table};

use super::report::{Holder, HolderGroup, Holding, MemoryReport, TableRow};

impl fmt::Display for MemoryReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n\n{}\n\n{}\n\n", self.head(), self.kinds_table(), self.groups_table())?;
        write!(f, "{}\n\n{}\n\n{}", self.holders_table(), self.tables_table(), self.limits)?;
        for note in self.notes() {
            write!(f, "\n{note}")?;
        }
        write!(
            f,
            "\n{} processes in {} ms; a binary counts with its part for each reference",
            grouped(self.coverage.processes),
            self.took_ms
        )
    }
}

impl MemoryReport {
    fn head(&self) -> String {
        let resident = self
            .kinds
            .resident
            .map_or_else(String::new, |bytes| format!(", resident {}", human_bytes(bytes)));
        format!("{}  memory {}{resident}", self.node, human_bytes(self.kinds.total))
    }

    fn kinds_table(&self) -> String {
        let kinds = &self.kinds;
        let row = |kind: &str, bytes: u64, what: String| {
            let share = bytes as f64 / kinds.total.max(1) as f64 * 100.0;
            [kind.to_owned(), human_bytes(bytes), format!("{share:.0} %"), what]
        };
        let text = str::to_owned;
        let beside = |kind: &str, bytes: u64, what: &str| {
            [text(kind), human_bytes(bytes), text(""), text(what)]
        };
        let terms = kinds.persistent_terms.map_or_else(String::new, |bytes| {
            format!(", with {} of persistent terms", human_bytes(bytes))
        });
        let atoms = self.limits.count("atoms").map_or_else(String::new, |count| {
            format!("{} names, which are never freed", grouped(count))
        });
        let mut rows = vec![
            row("processes", kinds.processes, text("heaps, stacks and mailboxes")),
            row("binaries", kinds.binaries, self.binaries_sentence()),
            row("tables", kinds.tables, text("ETS, without the binaries that objects refer to")),
            row("code", kinds.code, text("loaded modules")),
            row("atoms", kinds.atoms, atoms),
            row("other", kinds.other, format!("ports, timers, the VM's own{terms}")),
        ];
        if let Some(unused) = kinds.unused {
            let what = "held by the VM's allocators, in no use";
            rows.push(beside("unused", unused, what));
        }
        if let Some(beyond) = kinds.beyond {
            let what = "resident, and not the allocators': the program, stacks, native libraries, what was just freed";
            rows.push(beside("beyond", beyond, what));
        }
        table(
            [
                ("kind", Align::Left),
                ("memory", Align::Right),
                ("of sum", Align::Right),
                ("what", Align::Left),
            ],
            &rows,
        )
    }

    fn binaries_sentence(&self) -> String {
        let holders = &self.binaries;
        let parts = [
            (holders.processes, "of processes"),
            (holders.tables, "of objects in tables"),
            (holders.sockets, "waiting for sockets with full buffers"),
            (holders.unattributed, "of unknown holders"),
        ];
        let parts = parts.map(|(bytes, what)| format!("{} {what}", human_bytes(bytes)));
        parts.join(", ")
    }

    fn groups_table(&self) -> String {
        let rows: Vec<_> = self.groups.iter().map(HolderGroup::cells).collect();
        table(columns("kind of holder", ("number", Align::Right)), &rows)
    }

    fn holders_table(&self) -> String {
        let rows: Vec<_> = self.holders.iter().map(Holder::cells).collect();
        table(columns("holder", ("kind", Align::Left)), &rows)
    }

    fn tables_table(&self) -> String {
        let columns: [Column; 5] = [
            ("table", Align::Left),
            ("owner", Align::Left),
            ("objects", Align::Right),
            ("memory", Align::Right),
            ("binaries", Align::Right),
        ];
        table(columns, &self.tables.iter().map(TableRow::cells).collect::<Vec<_>>())
    }
}

fn columns(title: &'static str, second: Column) -> [Column; 8] {
    use Align::{Left, Right};
    [
        (title, Left),
        second,
        ("total", Right),
        ("processes", Right),
        ("binaries", Right),
        ("tables", Right),
        ("sockets", Right),
        ("mailbox", Right),
    ]
}

impl Holding {
    fn cells(&self) -> [String; 6] {
        let bytes = [
            self.total_bytes,
            self.memory_bytes,
            self.binary_bytes,
            self.table_bytes,
            self.socket_bytes,
        ];
        let [total, memory, binaries, tables, sockets] = bytes.map(human_bytes);
        [total, memory, binaries, tables, sockets, grouped(self.mailbox)]
    }
}

impl HolderGroup {
    fn cells(&self) -> [String; 8] {
        let [total, memory, binaries, tables, sockets, mailbox] = self.holding.cells();
        let kind = self.kind.replace('_', " ");
        [kind, grouped(self.count), total, memory, binaries, tables, sockets, mailbox]
    }
}

impl Holder {
    fn cells(&self) -> [String; 8] {
        let [total, memory, binaries, tables, sockets, mailbox] = self.holding.cells();
        let title = match &self.vhost {
            Some(vhost) => format!("{} ({vhost})", self.title()),
            None => self.title(),
        };
        [title, self.kind.replace('_', " "), total, memory, binaries, tables, sockets, mailbox]
    }
}

impl TableRow {
    fn cells(&self) -> [String; 5] {
        let owner = if self.owner.is_empty() { self.owner_pid.clone() } else { self.owner.clone() };
        let binaries = match self.binary_bytes {
            Some(bytes) => human_bytes(bytes),
            None if self.protection == "private" => "private".to_owned(),
            None => "-".to_owned(),
        };
        [self.title(), owner, grouped(self.objects), human_bytes(self.table_bytes), binaries]
    }
}
