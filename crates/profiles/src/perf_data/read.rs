//! From records to a profile.

use std::{
    collections::HashMap,
    io::{BufRead, BufReader, Read, Seek},
};

use super::{
    super::{
        Capture, Frame, FrameId, FrameKind, Profile, TooLarge, USUAL_PROFILE_BYTES,
        names::{generated_frame, kernel_frame, module_frame, native_frame},
        perf_events::{ForeignEvent, OtherEvents},
        tally::{Counted, Merged, StackCounts},
    },
    CodeNames, PerfDataError,
    container::{Opened, event_names, open, words},
    layout::{Bytes, EventLayout, NOT_UNWOUND, RawSample},
    named::Named,
    spaces::{AddressSpaces, Mapped},
};

/// Types of records.
mod record {
    pub(super) const MMAP: u32 = 1;
    pub(super) const LOST: u32 = 2;
    pub(super) const COMM: u32 = 3;
    pub(super) const FORK: u32 = 7;
    pub(super) const SAMPLE: u32 = 9;
    pub(super) const MMAP2: u32 = 10;
    pub(super) const LOST_SAMPLES: u32 = 13;
    pub(super) const HEADER_ATTRIBUTES: u32 = 64;
    pub(super) const TRACING_DATA: u32 = 66;
    pub(super) const AUXTRACE: u32 = 71;
    pub(super) const HEADER_FEATURE: u32 = 80;
    pub(super) const COMPRESSED: u32 = 81;
    pub(super) const COMPRESSED_2: u32 = 83;
}

/// Flags of a record's header.
const MISC_MMAP_DATA: u16 = 1 << 13;
const MISC_COMM_EXEC: u16 = 1 << 13;

/// Addresses from here on are marks in a chain: what follows is of the kernel, or of user space.
const MARKS: u64 = u64::MAX - 4094;
const MARK_KERNEL: u64 = (-128_i64).cast_unsigned();

/// Where the kernel's half of the address space begins.
const KERNEL_HALF: u64 = 1 << 63;

/// Events that a recording in a pipe may have.
const MAX_EVENTS: usize = 4096;

/// Bytes read at a time.
const BUFFER: usize = 1 << 20;

/// Reads a `perf.data`, file or written to a pipe, and gives names to its addresses.
///
/// Of several events the first one that has samples is taken; a note says which others there are.
pub fn read_perf_data(
    input: impl Read + Seek,
    names: &mut dyn CodeNames,
) -> Result<Profile, PerfDataError> {
    read_perf_data_within(input, names, USUAL_PROFILE_BYTES)
}

/// As [`read_perf_data`], with another limit for the memory that the profile takes.
pub fn read_perf_data_within(
    input: impl Read + Seek,
    names: &mut dyn CodeNames,
    limit_bytes: u64,
) -> Result<Profile, PerfDataError> {
    let mut input = BufReader::with_capacity(BUFFER, input);
    let opened = open(&mut input)?;
    let mut import = Import::new(opened, names);
    import.merged = Merged::within(limit_bytes);
    import.read(&mut input)?;
    import.finish()
}

struct Import<'a> {
    events: Vec<EventLayout>,
    by_id: HashMap<u64, usize>,
    position: u64,
    end: Option<u64>,
    taken: Option<(usize, ForeignEvent)>,
    others: OtherEvents,
    spaces: AddressSpaces,
    tally: StackCounts,
    merged: Merged,
    names: &'a mut dyn CodeNames,
    named: Named,
    key: Vec<u8>,
    lost: u64,
    /// Samples whose callers are in a copy of the stack, which is not read.
    not_unwound: u64,
    /// First and last time of a sample.
    times: Option<(u64, u64)>,
}

impl<'a> Import<'a> {
    fn new(opened: Opened, names: &'a mut dyn CodeNames) -> Self {
        let mut import = Self {
            events: Vec::new(),
            by_id: HashMap::new(),
            position: opened.first,
            end: opened.end,
            taken: None,
            others: OtherEvents::default(),
            spaces: AddressSpaces::default(),
            tally: StackCounts::default(),
            merged: Merged::default(),
            names,
            named: Named::default(),
            key: Vec::new(),
            lost: 0,
            not_unwound: 0,
            times: None,
        };
        opened.events.into_iter().for_each(|event| import.add_event(event));
        import
    }

    fn add_event(&mut self, event: EventLayout) {
        self.by_id.extend(event.ids.iter().map(|&id| (id, self.events.len())));
        self.events.push(event);
    }

    fn broken(&self, problem: &'static str) -> PerfDataError {
        PerfDataError::Broken { offset: self.position, problem }
    }

    fn read(&mut self, input: &mut impl BufRead) -> Result<(), PerfDataError> {
        let mut body = Vec::new();
        loop {
            if self.end.is_some_and(|end| self.position >= end) || input.fill_buf()?.is_empty() {
                return Ok(());
            }
            let mut header = [0; 8];
            self.fill(input, &mut header)?;
            let kind = u32::from_le_bytes([header[0], header[1], header[2], header[3]]);
            let misc = u16::from_le_bytes([header[4], header[5]]);
            let size = u16::from_le_bytes([header[6], header[7]]);
            let Some(length) = usize::from(size).checked_sub(header.len()) else {
                return Err(self.broken("a record is shorter than its own header"));
            };
            body.resize(length, 0);
            self.fill(input, &mut body)?;
            self.record(kind, misc, &body)?;
            self.position += u64::from(size);
            self.skip_data(kind, &body, input)?;
        }
    }

    fn fill(&self, input: &mut impl Read, bytes: &mut [u8]) -> Result<(), PerfDataError> {
        input.read_exact(bytes).map_err(|error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => {
                self.broken("it ends in the middle of a record, so it was cut off")
            }
            _ => PerfDataError::Io(error),
        })
    }

    /// Two kinds of records are followed by data that their size does not count.
    fn skip_data(
        &mut self,
        kind: u32,
        body: &[u8],
        input: &mut impl Read,
    ) -> Result<(), PerfDataError> {
        let size = match kind {
            record::AUXTRACE => Bytes(body).u64(),
            record::TRACING_DATA => {
                Bytes(body).u32().map(|size| u64::from(size).next_multiple_of(8))
            }
            _ => None,
        };
        let size = size.unwrap_or(0);
        let skipped = std::io::copy(&mut input.take(size), &mut std::io::sink())?;
        self.position = self.position.saturating_add(skipped);
        if skipped < size {
            return Err(self.broken("it ends in the middle of trace data, so it was cut off"));
        }
        Ok(())
    }

    fn record(&mut self, kind: u32, misc: u16, body: &[u8]) -> Result<(), PerfDataError> {
        match kind {
            record::SAMPLE => return self.sample(body),
            record::COMPRESSED | record::COMPRESSED_2 => {
                return Err(PerfDataError::Compressed { offset: self.position });
            }
            record::LOST => self.lost = self.lost.saturating_add(word_at(body, 8)),
            record::LOST_SAMPLES => self.lost = self.lost.saturating_add(word_at(body, 0)),
            record::HEADER_ATTRIBUTES => self.described(body)?,
            record::HEADER_FEATURE if word_at(body, 0) == 12 => {
                let named = self.events.iter_mut().zip(event_names(&body[8..]));
                named.for_each(|(event, name)| event.name = Some(name));
            }
            record::MMAP | record::MMAP2 if misc & MISC_MMAP_DATA == 0 => {
                let names_at = if kind == record::MMAP { 32 } else { 64 };
                match read_mapping(body, names_at) {
                    Some((pid, mapping)) => self.mapped(pid, mapping)?,
                    None => return Err(self.broken("a mapping is shorter than its fields")),
                }
            }
            record::COMM => self.called(misc, body)?,
            record::FORK => {
                let mut bytes = Bytes(body);
                if let (Some(pid), Some(parent), Some(tid), Some(parent_tid)) =
                    (bytes.u32(), bytes.u32(), bytes.u32(), bytes.u32())
                {
                    self.spaces.fork(parent, pid);
                    self.spaces.inherit_name(parent_tid, tid);
                }
            }
            _ => {}
        }
        if self.spaces.are_too_many() {
            return Err(self.broken("there are more mappings or threads than on any machine"));
        }
        Ok(())
    }

    /// In a pipe the events are described by records.
    fn described(&mut self, body: &[u8]) -> Result<(), PerfDataError> {
        let size = body.get(4..8).map_or(0, |_| Bytes(&body[4..]).u32().unwrap_or(0)) as usize;
        let event = body.get(..size).and_then(EventLayout::parse);
        let mut event = event.ok_or(self.broken("an event's description is short"))?;
        event.ids = words(&body[size..]);
        if self.events.len() == MAX_EVENTS {
            return Err(self.broken("there are more events than anybody records"));
        }
        self.add_event(event);
        Ok(())
    }

    fn mapped(&mut self, pid: u32, mapping: Mapped) -> Result<(), TooLarge> {
        // The kernel's own mappings have no process.
        if pid != u32::MAX && mapping.start < mapping.end {
            if self.spaces.replaces(pid, &mapping) {
                self.name_all()?;
                self.named.forget(pid);
            }
            self.spaces.map(pid, mapping);
        }
        Ok(())
    }

    fn called(&mut self, misc: u16, body: &[u8]) -> Result<(), TooLarge> {
        let mut bytes = Bytes(body);
        let (Some(pid), Some(tid)) = (bytes.u32(), bytes.u32()) else { return Ok(()) };
        if misc & MISC_COMM_EXEC != 0 {
            self.name_all()?;
            self.named.forget(pid);
            self.spaces.exec(pid);
        }
        self.spaces.call(tid, bytes.text());
        Ok(())
    }

    fn sample(&mut self, body: &[u8]) -> Result<(), PerfDataError> {
        let first = self.events.first().ok_or(self.broken("a sample before any event"))?;
        let at = match self.events.len() {
            1 => 0,
            _ => first.id_of(body).and_then(|id| self.by_id.get(&id)).copied().unwrap_or(0),
        };
        let event = &self.events[at];
        let sample = event.sample(body).ok_or(self.broken("a sample is shorter than it says"))?;
        let taken = self.taken.get_or_insert_with(|| (at, ForeignEvent::of(&event.name())));
        if taken.0 != at {
            self.others.add(&event.name());
            return Ok(());
        }
        if let Some(time) = sample.time {
            let (first, last) = self.times.unwrap_or((time, time));
            self.times = Some((first.min(time), last.max(time)));
        }
        self.not_unwound += u64::from(event.copies_stacks());
        let counted = Counted { weight: taken.1.weight_of_record(sample.raw), count: 1 };
        Ok(self.count(&sample, counted)?)
    }

    fn count(&mut self, sample: &RawSample<'_>, counted: Counted) -> Result<(), TooLarge> {
        self.key.clear();
        self.key.extend_from_slice(&sample.pid.to_le_bytes());
        self.key.extend_from_slice(&self.spaces.name_of(sample.tid).to_le_bytes());
        self.key.extend_from_slice(sample.chain);
        if sample.chain.is_empty()
            && let Some(address) = sample.address
        {
            self.key.extend_from_slice(&address.to_le_bytes());
        }
        self.tally.add(&self.key, counted);
        if self.tally.is_full() { self.name_all() } else { Ok(()) }
    }

    /// Turns all that was counted into named stacks.
    fn name_all(&mut self) -> Result<(), TooLarge> {
        let counted: Vec<_> = self.tally.drain().collect();
        for (key, counted) in counted {
            let mut bytes = Bytes(&key);
            let (Some(pid), Some(name)) = (bytes.u32(), bytes.u32()) else { continue };
            let thread = self.spaces.text(name).to_owned();
            let mut stack = vec![self.merged.root(&thread)?];
            let leaf_first = self.frames(pid, &words(bytes.0))?;
            stack.extend(leaf_first.into_iter().rev());
            self.merged.add(&thread, &stack, counted)?;
        }
        Ok(())
    }

    fn frames(&mut self, pid: u32, chain: &[u64]) -> Result<Vec<FrameId>, TooLarge> {
        let mut in_kernel = chain.first().is_some_and(|&first| first >= KERNEL_HALF);
        let mut frames = Vec::with_capacity(chain.len());
        let mut is_caller = false;
        for &address in chain {
            if address >= MARKS {
                in_kernel = address == MARK_KERNEL;
                is_caller = false;
                continue;
            }
            // A return address may already be of the next function.
            let address = if is_caller { address.wrapping_sub(1) } else { address };
            frames.push(self.frame(pid, address, in_kernel)?);
            is_caller = true;
        }
        Ok(frames)
    }

    fn frame(&mut self, pid: u32, address: u64, in_kernel: bool) -> Result<FrameId, TooLarge> {
        let pid = if in_kernel { 0 } else { pid };
        if let Some(frame) = self.named.get(pid, address) {
            return Ok(frame);
        }
        let frame = if in_kernel {
            kernel_frame(self.names.in_kernel(address).as_deref())
        } else {
            self.user_frame(pid, address)
        };
        let id = self.merged.intern(frame)?;
        self.named.insert(pid, address, id);
        Ok(id)
    }

    fn user_frame(&mut self, pid: u32, address: u64) -> Frame {
        let mapping = self.spaces.at(pid, address).cloned();
        if let Some(mapping) = mapping.filter(|mapping| is_file(&mapping.path)) {
            let offset = (address - mapping.start).wrapping_add(mapping.file_offset);
            return match self.names.in_file(&mapping.path, offset) {
                Some(name) => native_frame(&name),
                None => module_frame(&mapping.path),
            };
        }
        match self.names.generated(pid, address) {
            Some(name) => generated_frame(&name),
            None => Frame { name: "[unknown]".to_owned(), kind: FrameKind::Native },
        }
    }

    fn finish(mut self) -> Result<Profile, PerfDataError> {
        self.name_all()?;
        let Some((at, event)) = self.taken.take() else { return Err(PerfDataError::Empty) };
        let layout = &self.events[at];
        let mut notes = event.notes();
        notes.extend(self.others.note());
        if self.not_unwound > 0 {
            notes.push(NOT_UNWOUND.to_owned());
        }
        let capture = Capture {
            recorder: "perf".to_owned(),
            clock: layout.name(),
            period_nanos: layout.period_nanos(),
            duration_nanos: self.times.map_or(0, |(first, last)| last - first),
            notes,
            ..Capture::default()
        };
        let mut profile = self.merged.into_profile(event.event, capture, self.lost);
        profile.quality.not_unwound = self.not_unwound;
        Ok(profile)
    }
}

fn read_mapping(body: &[u8], name_at: usize) -> Option<(u32, Mapped)> {
    let mut bytes = Bytes(body);
    let (pid, _tid) = (bytes.u32()?, bytes.u32()?);
    let (start, length, file_offset) = (bytes.u64()?, bytes.u64()?, bytes.u64()?);
    let path = Bytes(body.get(name_at..)?).text().into();
    Some((pid, Mapped { start, end: start.saturating_add(length), file_offset, path }))
}

/// Code that was generated is in no file, whatever the mapping is called.
fn is_file(path: &str) -> bool {
    (path.starts_with('/') && !path.starts_with("/memfd:")) || path == "[vdso]"
}

fn word_at(body: &[u8], at: usize) -> u64 {
    body.get(at..).and_then(|rest| Bytes(rest).u64()).unwrap_or(0)
}
