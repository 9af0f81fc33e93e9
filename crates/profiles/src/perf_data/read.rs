//! Conversion of records into a profile.

use std::io::{Read, Seek};

use hashbrown::HashMap;

use super::{
    super::{
        Event, Profile, ReadOptions, USUAL_PROFILE_BYTES,
        perf_events::{EventName, PerfEvents},
        tally::Counted,
    },
    CodeNames, PerfDataError,
    container::{Opened, event_names, open, text_in, words},
    files::identity,
    layout::{Bytes, EventLayout, NOT_UNWOUND},
    records::{Record, Records},
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
    pub(super) const HEADER_BUILD_ID: u32 = 67;
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
    mut input: impl Read + Seek,
    names: &mut dyn CodeNames,
    options: ReadOptions<'_>,
) -> Result<Profile, PerfDataError> {
    let opened = open(&mut input)?;
    let mut records = Records::new(input, opened.first, opened.end);
    let mut import = Import::new(opened, names, options.limit_bytes);
    while records.advance(|record| import.time_of(record))? {
        import.record(records.current())?;
    }
    import.finish(options.value)
}

struct Import<'a> {
    layouts: Vec<EventLayout>,
    by_id: HashMap<u64, usize>,
    /// True if all records of the kernel have a time.
    are_timed: bool,
    /// True if the samples of all events have the same fields.
    are_alike: bool,
    /// Position of the current record.
    position: u64,
    events: PerfEvents,
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
            are_timed: true,
            are_alike: true,
            position: opened.first,
            events: PerfEvents::default(),
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
        self.are_timed &= layout.times_all_records();
        self.are_alike &= self.layouts.first().is_none_or(|first| layout.is_like(first));
        self.layouts.push(layout);
    }

    fn broken(&self, problem: &'static str) -> PerfDataError {
        PerfDataError::Broken { offset: self.position, problem }
    }

    /// Returns the time of a kernel record. Records of perf, including those it synthesizes at the start, have none. If
    /// only samples have times, the order of the file is the best available.
    fn time_of(&self, Record { kind, body, .. }: Record<'_>) -> Option<u64> {
        if !self.are_timed || kind >= record::HEADER_ATTRIBUTES {
            return None;
        }
        let is_sample = kind == record::SAMPLE;
        let event = if is_sample && !self.are_alike { self.event_of(body)? } else { 0 };
        let time = self.layouts.get(event)?.time_of(is_sample, body);
        time.filter(|&time| time != 0 && time != u64::MAX)
    }

    fn record(
        &mut self,
        Record { kind, misc, position, body }: Record<'_>,
    ) -> Result<(), PerfDataError> {
        self.position = position;
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
        let mut capture = chosen.capture("perf");
        // Samples without a period of their own stand for the requested period.
        if chosen.event == Event::Cpu && !chosen.has_periods {
            capture.period_nanos = self.layouts[chosen.events[0]].period_nanos();
        }
        capture.duration_nanos = self.times.map_or(0, |(first, last)| last - first);
        if self.not_unwound > 0 {
            capture.notes.push(NOT_UNWOUND.to_owned());
        }
        let mut profile = self.stacks.merged.into_profile(&chosen, capture, self.lost);
        profile.quality.not_unwound = self.not_unwound;
        Ok(profile)
    }
}

fn word_at(body: &[u8], offset: usize) -> u64 {
    body.get(offset..).and_then(|rest| Bytes(rest).u64()).unwrap_or(0)
}
