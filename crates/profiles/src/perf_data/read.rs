//! Conversion of records into a profile.

use std::io::{Read, Seek};

use hashbrown::HashMap;

use super::{
    super::{
        Event, Profile, ReadOptions, USUAL_PROFILE_BYTES,
        perf_events::{EventName, PerfEvents},
    },
    CodeNames, PerfDataError,
    container::{Opened, event_names, open, text_in, words},
    files::identity,
    layout::{Bytes, EventLayout, NOT_UNWOUND},
    records::{Record, Records},
    stacks::{Stacks, read_mapping},
    turns::{Turn, Turns},
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
    pub(super) const FINISHED_ROUND: u32 = 68;
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
    while let Some(record) = records.next()? {
        import.record(record)?;
    }
    import.finish(options.value)
}

struct Import<'a> {
    layouts: Vec<EventLayout>,
    by_id: HashMap<u64, usize>,
    /// True if all records of the kernel have a time.
    are_timed: bool,
    /// Position of the current record.
    position: u64,
    events: PerfEvents,
    stacks: Stacks<'a>,
    turns: Turns,
    /// Records whose turn it is; empty between two records of the file.
    ready: Vec<Turn>,
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
            position: opened.first,
            events: PerfEvents::default(),
            stacks: Stacks::new(names, opened.build_ids, limit_bytes),
            turns: Turns::default(),
            ready: Vec::new(),
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
        self.layouts.push(layout);
    }

    fn broken(&self, problem: &'static str) -> PerfDataError {
        PerfDataError::Broken { offset: self.position, problem }
    }

    /// Returns the time by which a record waits for its turn. Records of perf, including those it synthesizes at the
    /// start, have none. If only samples have times, the order of the file is the best available.
    fn turn_at(&self, time: Option<u64>) -> Option<u64> {
        time.filter(|&time| self.are_timed && time != 0 && time != u64::MAX)
    }

    /// Reads a record. Changes and samples wait for their turn.
    fn record(&mut self, record: Record<'_>) -> Result<(), PerfDataError> {
        let Record { kind, misc, position, body } = record;
        self.position = position;
        match kind {
            record::SAMPLE => return self.sample(body),
            record::COMPRESSED | record::COMPRESSED_2 => {
                return Err(PerfDataError::Compressed { offset: self.position });
            }
            record::LOST => self.lost = self.lost.saturating_add(word_at(body, 8)),
            record::LOST_SAMPLES => self.lost = self.lost.saturating_add(word_at(body, 0)),
            record::HEADER_ATTRIBUTES | record::HEADER_BUILD_ID | record::HEADER_FEATURE => {
                return self.description(kind, body);
            }
            record::MMAP | record::MMAP2 if misc & MISC_MMAP_DATA != 0 => {}
            record::MMAP | record::MMAP2 | record::COMM | record::FORK => {
                let first = self.layouts.first();
                return match self.turn_at(first.and_then(|layout| layout.time_in_change(body))) {
                    Some(time) => self.wait(|turns| turns.add_change(time, record)),
                    None => self.change(record),
                };
            }
            record::FINISHED_ROUND => return self.take(Turns::end_round),
            _ => {}
        }
        Ok(())
    }

    /// Lets a record wait, for as long as memory permits.
    fn wait(&mut self, add: impl FnOnce(&mut Turns)) -> Result<(), PerfDataError> {
        add(&mut self.turns);
        if self.turns.is_full() { self.take(Turns::take_half) } else { Ok(()) }
    }

    /// Takes records in their turn.
    fn take(&mut self, some: impl FnOnce(&mut Turns, &mut Vec<Turn>)) -> Result<(), PerfDataError> {
        let mut ready = std::mem::take(&mut self.ready);
        some(&mut self.turns, &mut ready);
        for turn in ready.drain(..) {
            match turn {
                Turn::Sample { stack, weight } => self.stacks.count(stack, weight)?,
                Turn::Change { position } => {
                    if let Some(change) = self.turns.take_change(position) {
                        self.change(change.record())?;
                    }
                }
            }
        }
        self.ready = ready;
        Ok(())
    }

    /// Applies a change of a process or thread.
    fn change(
        &mut self,
        Record { kind, misc, position, body }: Record<'_>,
    ) -> Result<(), PerfDataError> {
        self.position = position;
        match kind {
            record::MMAP | record::MMAP2 => self.mapped(kind, misc, body)?,
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

    /// Reads a record that describes the recording, as in pipe output.
    fn description(&mut self, kind: u32, body: &[u8]) -> Result<(), PerfDataError> {
        match kind {
            record::HEADER_ATTRIBUTES => self.described(body)?,
            record::HEADER_BUILD_ID => self.stacks.build_ids.add(body),
            _ if word_at(body, 0) == 4 => self.stacks.kernel.release = text_in(&body[8..]),
            _ if word_at(body, 0) == 12 => {
                let count = self.events.len();
                for (event, name) in event_names(&body[8..]).iter().take(count).enumerate() {
                    self.events.rename(event, name);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Adds an event that a record describes.
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
        let stack = self.stacks.number_of(event, &sample);
        match self.turn_at(sample.time) {
            Some(time) => self.wait(|turns| turns.add_sample(time, stack, weight))?,
            None => self.stacks.count(stack, weight)?,
        }
        if self.stacks.are_full() { self.make_room() } else { Ok(()) }
    }

    /// Removes stacks that no sample needs any more, and else takes half of the samples.
    fn make_room(&mut self) -> Result<(), PerfDataError> {
        self.stacks.make_room(self.turns.stacks())?;
        while self.stacks.are_half_full() {
            self.take(Turns::take_half)?;
            self.stacks.make_room(self.turns.stacks())?;
        }
        Ok(())
    }

    fn finish(mut self, asked: Option<&str>) -> Result<Profile, PerfDataError> {
        self.take(Turns::take_all)?;
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
