//! Conversion of records into a profile.

use std::{
    collections::HashMap,
    io::{BufRead, BufReader, Read, Seek},
};

use super::{
    super::{
        Capture, Event, Profile, ReadOptions, USUAL_PROFILE_BYTES,
        perf_events::{EventName, PerfEvents},
        tally::Counted,
    },
    CodeNames, PerfDataError,
    container::{Opened, event_names, open, text_in, words},
    files::identity,
    layout::{Bytes, EventLayout, NOT_UNWOUND},
    rounds::{Ready, Rounds},
    stacks::{Stacks, read_mapping},
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
    pub(super) const HEADER_BUILD_ID: u32 = 67;
    pub(super) const FINISHED_ROUND: u32 = 68;
    pub(super) const AUXTRACE: u32 = 71;
    pub(super) const HEADER_FEATURE: u32 = 80;
    pub(super) const COMPRESSED: u32 = 81;
    pub(super) const COMPRESSED_2: u32 = 83;
}

/// Flags of a record's header.
const MISC_MMAP_DATA: u16 = 1 << 13;
const MISC_COMM_EXEC: u16 = 1 << 13;
const MISC_MMAP_BUILD_ID: u16 = 1 << 14;

/// Limit of the events in pipe output.
const MAX_EVENTS: usize = 4096;

/// Size of the read buffer.
const BUFFER: usize = 1 << 20;

/// Reads a `perf.data`, from a file or from pipe output, and names its addresses.
///
/// Takes the first of several events that has samples; a note lists the others.
pub fn read_perf_data(
    input: impl Read + Seek,
    names: &mut dyn CodeNames,
) -> Result<Profile, PerfDataError> {
    read_perf_data_with(input, names, ReadOptions::within(USUAL_PROFILE_BYTES))
}

/// Like [`read_perf_data`], with a limit and a choice of event.
pub fn read_perf_data_with(
    input: impl Read + Seek,
    names: &mut dyn CodeNames,
    options: ReadOptions<'_>,
) -> Result<Profile, PerfDataError> {
    let mut input = BufReader::with_capacity(BUFFER, input);
    let opened = open(&mut input)?;
    let mut import = Import::new(opened, names, options.limit_bytes);
    import.read(&mut input)?;
    import.finish(options.value)
}

struct Import<'a> {
    layouts: Vec<EventLayout>,
    by_id: HashMap<u64, usize>,
    position: u64,
    end: Option<u64>,
    events: PerfEvents,
    rounds: Rounds,
    stacks: Stacks<'a>,
    lost: u64,
    /// Samples whose callers are in a copy of the stack, which this reader does not unwind.
    not_unwound: u64,
    /// First and last time of a sample.
    times: Option<(u64, u64)>,
}

impl<'a> Import<'a> {
    fn new(opened: Opened, names: &'a mut dyn CodeNames, limit_bytes: u64) -> Self {
        let mut import = Self {
            layouts: Vec::new(),
            by_id: HashMap::new(),
            position: opened.first,
            end: opened.end,
            events: PerfEvents::default(),
            rounds: Rounds::default(),
            stacks: Stacks::new(names, opened.build_ids, limit_bytes),
            lost: 0,
            not_unwound: 0,
            times: None,
        };
        import.stacks.kernel.release = opened.release;
        opened.events.into_iter().for_each(|event| import.add_event(event));
        import
    }

    fn add_event(&mut self, layout: EventLayout) {
        self.by_id.extend(layout.ids.iter().map(|&id| (id, self.layouts.len())));
        self.events.add(EventName::new(&layout.name()).with_spaces(layout.spaces()));
        self.layouts.push(layout);
    }

    fn broken(&self, problem: &'static str) -> PerfDataError {
        PerfDataError::Broken { offset: self.position, problem }
    }

    fn read(&mut self, input: &mut impl BufRead) -> Result<(), PerfDataError> {
        let mut body = Vec::new();
        while self.end.is_none_or(|end| self.position < end) && !input.fill_buf()?.is_empty() {
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
            self.ordered(kind, misc, &body)?;
            self.position += u64::from(size);
            self.skip_data(kind, &body, input)?;
        }
        let rest = self.rounds.rest();
        self.all_of(&rest)
    }

    fn fill(&self, input: &mut impl Read, bytes: &mut [u8]) -> Result<(), PerfDataError> {
        input.read_exact(bytes).map_err(|error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => {
                self.broken("it ends in the middle of a record, so it was cut off")
            }
            _ => PerfDataError::Io(error),
        })
    }

    /// Skips the data that follow two kinds of records, outside the records' size.
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

    /// Processes a record in its turn, or at once if it has no time.
    fn ordered(&mut self, kind: u32, misc: u16, body: &[u8]) -> Result<(), PerfDataError> {
        if kind == record::FINISHED_ROUND {
            let ready = self.rounds.end_round();
            return self.all_of(&ready);
        }
        let Some(time) = self.time_of(kind, body) else { return self.record(kind, misc, body) };
        if self.rounds.add(time, (kind, misc, self.position), body) {
            let ready = self.rounds.half();
            return self.all_of(&ready);
        }
        Ok(())
    }

    /// Returns the time of a kernel record. Records of perf, including those it synthesizes at the start, have none. If
    /// only samples have times, the order of the file is the best available.
    fn time_of(&self, kind: u32, body: &[u8]) -> Option<u64> {
        if !self.layouts.iter().all(EventLayout::times_all_records) {
            return None;
        }
        let time = match kind {
            record::SAMPLE => self.layouts.get(self.event_of(body)?)?.sample(body)?.time,
            record::HEADER_ATTRIBUTES.. => None,
            _ => self.layouts.first()?.time_of_record(body),
        };
        time.filter(|&time| time != 0 && time != u64::MAX)
    }

    fn all_of(&mut self, ready: &Ready) -> Result<(), PerfDataError> {
        let position = self.position;
        for (waiting, body) in ready.iter() {
            self.position = waiting.position;
            self.record(waiting.kind, waiting.misc, body)?;
        }
        self.position = position;
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
            record::HEADER_BUILD_ID => self.stacks.build_ids.add(body),
            record::HEADER_FEATURE if word_at(body, 0) == 4 => {
                self.stacks.kernel.release = text_in(&body[8..]);
            }
            record::HEADER_FEATURE if word_at(body, 0) == 12 => {
                let count = self.events.len();
                for (event, name) in event_names(&body[8..]).iter().take(count).enumerate() {
                    self.events.rename(event, name);
                }
            }
            record::MMAP | record::MMAP2 if misc & MISC_MMAP_DATA == 0 => {
                self.mapped(kind, misc, body)?;
            }
            record::COMM => self.stacks.called(misc & MISC_COMM_EXEC != 0, body)?,
            record::FORK => {
                let mut bytes = Bytes(body);
                if let (Some(pid), Some(parent), Some(tid), Some(parent_tid)) =
                    (bytes.u32(), bytes.u32(), bytes.u32(), bytes.u32())
                {
                    self.stacks.spaces.fork(parent, pid);
                    self.stacks.spaces.inherit_name(parent_tid, tid);
                }
            }
            _ => {}
        }
        if self.stacks.spaces.are_too_many() {
            return Err(self.broken("it has too many mappings or threads"));
        }
        Ok(())
    }

    fn mapped(&mut self, kind: u32, misc: u16, body: &[u8]) -> Result<(), PerfDataError> {
        let name_offset = if kind == record::MMAP { 32 } else { 64 };
        let Some((pid, mut mapping)) = read_mapping(body, name_offset) else {
            return Err(self.broken("a mapping is shorter than its fields"));
        };
        if kind == record::MMAP2 {
            let has_build_id = misc & MISC_MMAP_BUILD_ID != 0;
            mapping.file = identity(mapping.file.path.clone(), body, has_build_id).into();
        }
        Ok(self.stacks.mapped(pid, mapping)?)
    }

    /// Adds an event that a record describes, as in pipe output.
    fn described(&mut self, body: &[u8]) -> Result<(), PerfDataError> {
        let size = body.get(4..8).map_or(0, |_| Bytes(&body[4..]).u32().unwrap_or(0)) as usize;
        let event = body.get(..size).and_then(EventLayout::parse);
        let mut event = event.ok_or(self.broken("an event's description is too short"))?;
        event.ids = words(&body[size..]);
        if self.layouts.len() == MAX_EVENTS {
            return Err(self.broken("it has too many events"));
        }
        self.add_event(event);
        Ok(())
    }

    /// Returns the number of a sample's event. Files with one event need no ids.
    fn event_of(&self, body: &[u8]) -> Option<usize> {
        let first = self.layouts.first()?;
        Some(match self.layouts.len() {
            1 => 0,
            _ => first.id_of(body).and_then(|id| self.by_id.get(&id)).copied().unwrap_or(0),
        })
    }

    fn sample(&mut self, body: &[u8]) -> Result<(), PerfDataError> {
        let event = self.event_of(body).ok_or(self.broken("a sample before any event"))?;
        let layout = &self.layouts[event];
        let sample =
            layout.sample(body).ok_or(self.broken("a sample is shorter than its stated size"))?;
        if let Some(time) = sample.time {
            let (first, last) = self.times.unwrap_or((time, time));
            self.times = Some((first.min(time), last.max(time)));
        }
        self.not_unwound += u64::from(layout.copies_stacks());
        let weight = self.events.name(event).weight_of_record(sample.raw);
        let weight = self.events.count(event, sample.period, weight);
        let counted = Counted { weight, count: 1 };
        Ok(self.stacks.count(event, &sample, counted)?)
    }

    fn finish(mut self, asked: Option<&str>) -> Result<Profile, PerfDataError> {
        self.stacks.name_all()?;
        let chosen = self.events.choose(asked)?.ok_or(PerfDataError::Empty)?;
        let layout = &self.layouts[chosen.events[0]];
        let mut notes = chosen.notes.clone();
        if self.not_unwound > 0 {
            notes.push(NOT_UNWOUND.to_owned());
        }
        // Samples without a period of their own stand for the requested period.
        let asked_period = if chosen.has_periods { 0 } else { layout.period_nanos() };
        let capture = Capture {
            recorder: "perf".to_owned(),
            clock: chosen.name.clone(),
            period_nanos: match chosen.event {
                Event::Cpu => chosen.period_nanos.max(asked_period),
                _ => 0,
            },
            duration_nanos: self.times.map_or(0, |(first, last)| last - first),
            value: chosen.value.clone(),
            notes,
            ..Capture::default()
        };
        let mut profile = self.stacks.merged.into_profile(&chosen, capture, self.lost);
        profile.quality.not_unwound = self.not_unwound;
        Ok(profile)
    }
}

fn word_at(body: &[u8], offset: usize) -> u64 {
    body.get(offset..).and_then(|rest| Bytes(rest).u64()).unwrap_or(0)
}
