//! A profile from the elements of a page. It has every stack, weight, time and line of the page. Processes beyond the
//! heaviest ones of a page are one process for each role, as on the page.

use std::{io::Read, sync::Arc};

use rabbitscope_profiles::{
    Event, Frame, FrameId, FrameKind, FrameTable, Identity, Labels, LineWeight, Mode, Profile,
    ReadOptions, Sample, StackEntry, Times, TooLarge, UnknownValue,
};

use super::elements::{DATA, Lines, Owners, PageError, ProfileData, elements, find};
use crate::page::columns::{Columns, Record, layout::CODES};

/// Returns whether the beginning of a file is that of a page.
pub fn is_page(start: &[u8]) -> bool {
    start.starts_with(b"<!doctype html>") && find(start, DATA.as_bytes()).is_some()
}

/// Reads the profile of a page.
pub fn read_page_with(
    input: impl Read,
    ReadOptions { limit_bytes, value }: ReadOptions<'_>,
) -> Result<Profile, PageError> {
    let mut page = Vec::new();
    input.take(limit_bytes.saturating_add(1)).read_to_end(&mut page)?;
    if page.len() as u64 > limit_bytes {
        return Err(TooLarge { limit_bytes }.into());
    }
    let (data, columns) = elements(&page, limit_bytes)?;
    drop(page);
    if let Some(asked) = value.filter(|asked| *asked != data.event) {
        return Err(UnknownValue { asked: asked.to_owned(), known: vec![data.event] }.into());
    }
    profile(data, &columns, limit_bytes)
}

fn profile(data: ProfileData, columns: &Columns, limit_bytes: u64) -> Result<Profile, PageError> {
    let is_foreign = data.capture.value.as_ref().is_some_and(|value| value.name == data.event);
    let event = if is_foreign { Some(Event::Imported) } else { Event::from_name(&data.event) };
    let mut profile = Profile {
        event: event.ok_or(PageError::Inconsistent("its event is unknown"))?,
        capture: data.capture,
        quality: data.quality,
        ..Profile::default()
    };
    profile.capture.time_step_nanos = data.owners.step_nanos;
    let ids = frames(columns, &mut profile.frames);
    let owners = Processes::new(&data.owners);
    let mut stacks = Stacks::new(columns, &ids, limit_bytes);
    for record in &columns.records {
        let stack = stacks.above(record.node)?;
        let labels = labels(record, &owners, &data.owners, &stack, &profile.frames)?;
        let mut times = Times::default();
        for &(step, weight) in &record.points {
            times.add(step, weight);
        }
        let (weight, count) = (record.weight, record.count);
        profile.samples.push(Sample { stack, labels, weight, count, times });
    }
    let known = |(_, identity): &(Arc<str>, Identity)| *identity != Identity::default();
    let named = owners.0.into_iter().flatten().filter(known);
    profile.identities = named.map(|(pid, identity)| (pid.to_string(), identity)).collect();
    profile.lines = lines(&data.lines, &ids)?;
    Ok(profile)
}

/// Adds the functions to the table. Returns their ids.
fn frames(columns: &Columns, table: &mut FrameTable) -> Vec<FrameId> {
    let named = columns.names.iter().zip(&columns.codes);
    let frames =
        named.map(|(name, &code)| Frame { name: name.clone(), kind: CODES[usize::from(code)] });
    frames.map(|frame| table.intern(frame)).collect()
}

/// Stacks of nodes, in ascending order of these.
struct Stacks<'a> {
    columns: &'a Columns,
    ids: &'a [FrameId],
    /// The path to the last node.
    path: Vec<StackEntry>,
    /// Node after the last one.
    next: usize,
    /// Next entry of the runs.
    run: usize,
    /// Bytes that stacks may still have.
    left: u64,
    limit_bytes: u64,
}

impl<'a> Stacks<'a> {
    fn new(columns: &'a Columns, ids: &'a [FrameId], limit_bytes: u64) -> Self {
        Self { columns, ids, path: Vec::new(), next: 0, run: 0, left: limit_bytes, limit_bytes }
    }

    /// Returns the stack that ends in a node. Many records may share a deep node, so that the bytes are limited.
    fn above(&mut self, node: u32) -> Result<Vec<StackEntry>, PageError> {
        while self.next <= node as usize {
            self.step();
        }
        let bytes = size_of::<Sample>() + self.path.len() * size_of::<StackEntry>();
        let left = self.left.checked_sub(bytes as u64);
        self.left = left.ok_or(TooLarge { limit_bytes: self.limit_bytes })?;
        Ok(self.path.clone())
    }

    fn step(&mut self) {
        let Columns { frames, climbs, runs, .. } = self.columns;
        let node = self.next;
        self.path.truncate(self.path.len() - climbs[node] as usize);
        let run = runs.get(self.run).filter(|(its, _)| *its as usize == node);
        let repeat = run.map_or(1, |&(_, run)| run.max(1));
        self.run += usize::from(run.is_some());
        self.path.push(StackEntry { frame: self.ids[frames[node] as usize], repeat });
        self.next += 1;
    }
}

/// Names and identities of the owners. Owner 0 is no process.
struct Processes(Vec<Option<(Arc<str>, Identity)>>);

impl Processes {
    fn new(owners: &Owners) -> Self {
        let numbers = 0..owners.processes.len();
        Self(numbers.map(|owner| process(owners, owner)).collect())
    }
}

/// Takes the process of an owner from its labels. That of a single process is `pid role name`.
fn process(owners: &Owners, owner: usize) -> Option<(Arc<str>, Identity)> {
    let label = |name: &str| {
        owners.dimensions.iter().find(|dimension| dimension.name == name)?.label(owner)
    };
    let whole = label("process")?;
    let role = label("role").unwrap_or_default();
    let (pid, rest) = match whole.split_once(' ') {
        Some((pid, rest)) if pid.starts_with('<') => (pid, rest),
        _ => (whole, ""),
    };
    let name = rest.strip_prefix(role).unwrap_or_default().trim_start();
    let vhost = label("vhost").unwrap_or_default();
    let connection = label("connection").unwrap_or_default();
    let of_vhost = format!(" ({vhost})");
    let identity = Identity {
        role: role.to_owned(),
        name: name.to_owned(),
        vhost: vhost.to_owned(),
        connection: connection.strip_suffix(&of_vhost).unwrap_or(connection).to_owned(),
        client: label("client").unwrap_or_default().to_owned(),
    };
    Some((pid.into(), identity))
}

fn labels(
    record: &Record,
    processes: &Processes,
    owners: &Owners,
    stack: &[StackEntry],
    frames: &FrameTable,
) -> Result<Labels, PageError> {
    let unknown = PageError::Inconsistent("a record has an unknown owner or label");
    let label = record.label as usize;
    let columns = &owners.labels;
    let (Some(process), Some(&thread), Some(&outcome)) = (
        processes.0.get(record.owner as usize),
        columns.thread.get(label),
        columns.outcome.get(label),
    ) else {
        return Err(unknown);
    };
    let Some(thread) = columns.threads.get(thread as usize) else { return Err(unknown) };
    let is_kernel =
        stack.last().is_some_and(|leaf| frames.get(leaf.frame).kind == FrameKind::Kernel);
    Ok(Labels {
        process: process.as_ref().map(|(pid, _)| Arc::clone(pid)),
        thread: thread.as_str().into(),
        mode: if is_kernel { Mode::Kernel } else { Mode::User },
        outcome,
    })
}

fn lines(lines: &Lines, ids: &[FrameId]) -> Result<Vec<LineWeight>, PageError> {
    let files: Vec<Arc<str>> = lines.files.iter().map(|file| file.as_str().into()).collect();
    let with_line = (0..lines.line.len()).filter(|&row| lines.line[row] > 0);
    let weights = with_line.map(|row| {
        Some(LineWeight {
            frame: *ids.get(*lines.frame.get(row)? as usize)?,
            file: Arc::clone(files.get(*lines.file.get(row)? as usize)?),
            line: lines.line[row],
            own: *lines.own.get(row)?,
            total: *lines.total.get(row)?,
        })
    });
    weights.collect::<Option<_>>().ok_or(PageError::Inconsistent("its lines do not fit together"))
}
