//! Sentences about a memory report: unattributed memory, unread parts, and resources that are nearly used up.

use rabbitscope_text::{counted, grouped, human_bytes};

use super::report::{Holder, MemoryReport};

/// Unattributed binaries below which there is no note: the VM's own binaries, and messages in flight.
const SMALL_REST_BYTES: u64 = 1 << 20;

/// Number of messages in a mailbox from which it may hold unattributed binaries.
const LONG_MAILBOX: u64 = 1_000;

impl MemoryReport {
    /// Returns sentences, the most important first.
    pub(super) fn notes(&self) -> Vec<String> {
        let warnings = self.limits.warnings();
        let parts = [self.rest(), self.long_mailbox(), self.unseen(), self.sampled()];
        warnings.chain(parts.into_iter().flatten()).collect()
    }

    /// Names possible holders of unattributed binaries.
    fn rest(&self) -> Option<String> {
        let rest = self.binaries.unattributed;
        if rest < SMALL_REST_BYTES || rest * 20 < self.kinds.binaries {
            return None;
        }
        let mut places = Vec::new();
        if let Some(longest) =
            self.mailboxes.first().filter(|holder| holder.holding.mailbox >= LONG_MAILBOX)
        {
            let count = grouped(longest.holding.mailbox);
            places.push(format!("the {count} messages that wait for {}", longest.title()));
        }
        if let Some(table) = self.tables.iter().find(|table| table.binary_bytes.is_none()) {
            places.push(format!("tables that only their owner reads, such as `{}`", table.name));
        }
        if self.coverage.unlisted + self.coverage.processes_left + self.coverage.unanswered > 0 {
            places.push("processes that were not read".to_owned());
        }
        places.push("persistent terms, native libraries, and messages in flight".to_owned());
        Some(format!(
            "{} of binaries have no known holder. Mailboxes do not list their binaries. Possible holders: {}",
            human_bytes(rest),
            places.join("; ")
        ))
    }

    fn long_mailbox(&self) -> Option<String> {
        let longest =
            self.mailboxes.first().filter(|holder| holder.holding.mailbox >= LONG_MAILBOX)?;
        Some(format!(
            "{} messages wait for {}, which has {} with them",
            grouped(longest.holding.mailbox),
            longest.title(),
            human_bytes(longest.holding.total_bytes)
        ))
    }

    fn unseen(&self) -> Option<String> {
        let coverage = &self.coverage;
        let parts = [
            (coverage.processes_left, "processes were not reached in time"),
            (coverage.unlisted, "processes have too many binaries to list"),
            (coverage.unread_tables, "tables are private or took too long to read"),
        ];
        let mut parts: Vec<_> = parts
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{} {what}", grouped(count)))
            .collect();
        if coverage.unanswered > 0 {
            let pids = coverage.unanswered_pids.join(", ");
            let processes = counted(coverage.unanswered, "process");
            parts.push(format!("{processes} in native code did not answer: {pids}"));
        }
        (!parts.is_empty()).then(|| format!("not seen: {}", parts.join("; ")))
    }

    fn sampled(&self) -> Option<String> {
        let is_sampled = |table: &&super::report::TableRow| {
            table.objects_read < table.objects && table.binary_bytes.is_some_and(|bytes| bytes > 0)
        };
        let sampled = self.tables.iter().find(is_sampled)?;
        Some(format!(
            "binaries of large tables are estimated from some objects: of `{}`, {} of {}",
            sampled.title(),
            grouped(sampled.objects_read),
            grouped(sampled.objects)
        ))
    }
}

impl Holder {
    /// Returns the name, or the pid of a process without one.
    pub(super) fn title(&self) -> String {
        match &self.pid {
            Some(pid) if self.name.is_empty() => pid.clone(),
            Some(pid) => format!("{} {pid}", self.name),
            None => self.name.clone(),
        }
    }
}

impl super::report::TableRow {
    /// Returns the name, or the queue of a table without one.
    pub(super) fn title(&self) -> String {
        match &self.queue {
            Some(queue) => format!("queue {queue}"),
            None => self.name.clone(),
        }
    }
}
