//! The container around the records: header, event descriptions and positions. Every size is compared with the length
//! of the file before it is used.

use std::io::{self, Read, Seek, SeekFrom};

use super::{
    PerfDataError,
    files::BuildIds,
    layout::{Bytes, EventLayout},
};

const MAGIC: &[u8; 8] = b"PERFILE2";

/// Size of the header. The header of `perf record -o -` is shorter.
const HEADER_BYTES: u64 = 104;
const PIPE_HEADER_BYTES: u64 = 16;

/// Size limit of one event's description.
const MAX_ATTRIBUTE_BYTES: u64 = 4096;

/// Size limit of the list of events.
const MAX_DESCRIPTION_BYTES: u64 = 64 << 20;

/// Feature bits of the sections with build ids, the kernel's release and the names of events.
const FEATURE_BUILD_IDS: u32 = 2;
const FEATURE_RELEASE: u32 = 4;
const FEATURE_EVENT_NAMES: u32 = 12;

/// A part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Section {
    offset: u64,
    size: u64,
}

impl Section {
    /// Parses position and size.
    fn parse(bytes: &mut Bytes<'_>) -> Self {
        let mut word = || bytes.u64().unwrap_or(0);
        Self { offset: word(), size: word() }
    }
}

/// A file after its header; the input stands at the first record.
#[derive(Debug, Default)]
pub(super) struct Opened {
    pub(super) events: Vec<EventLayout>,
    pub(super) build_ids: BuildIds,
    /// The kernel's release.
    pub(super) release: Option<String>,
    /// Position of the first record.
    pub(super) first: u64,
    /// Position after the last record; absent in pipe output, whose records end with the file.
    pub(super) end: Option<u64>,
}

/// Reads the header and the descriptions of the events.
pub(super) fn open(input: &mut (impl Read + Seek)) -> Result<Opened, PerfDataError> {
    let length = input.seek(SeekFrom::End(0))?;
    input.seek(SeekFrom::Start(0))?;
    let mut start = [0; 16];
    if length < PIPE_HEADER_BYTES {
        return Err(PerfDataError::Foreign);
    }
    input.read_exact(&mut start)?;
    let mut bytes = Bytes(&start);
    if bytes.take(8) != Some(MAGIC) {
        return Err(PerfDataError::Foreign);
    }
    if bytes.u64() == Some(PIPE_HEADER_BYTES) {
        return Ok(Opened { first: PIPE_HEADER_BYTES, ..Opened::default() });
    }
    File { input, length }.open()
}

struct File<'a, R> {
    input: &'a mut R,
    length: u64,
}

impl<R: Read + Seek> File<'_, R> {
    fn open(mut self) -> Result<Opened, PerfDataError> {
        let header = self.bytes("the header", Section { offset: 0, size: HEADER_BYTES })?;
        let mut bytes = Bytes(&header[16..]);
        let attribute_size = bytes.u64().unwrap_or(0);
        let [attributes, records, _event_types] = [(); 3].map(|()| Section::parse(&mut bytes));
        let features = bytes.u64().unwrap_or(0);
        if records.size == 0 {
            let problem = "it has no records, because perf was killed before it finished the file";
            return Err(PerfDataError::Broken { offset: records.offset, problem });
        }
        let end = self.check("the records", records)?;
        let mut events = self.events(attributes, attribute_size)?;
        if let Some(text) = self.feature(end, features, FEATURE_EVENT_NAMES)? {
            for (event, name) in events.iter_mut().zip(event_names(&text)) {
                event.name = Some(name);
            }
        }
        let mut build_ids = BuildIds::default();
        if let Some(list) = self.feature(end, features, FEATURE_BUILD_IDS)? {
            build_ids.add_all(&list);
        }
        let release =
            self.feature(end, features, FEATURE_RELEASE)?.and_then(|bytes| text_in(&bytes));
        self.input.seek(SeekFrom::Start(records.offset))?;
        Ok(Opened { events, build_ids, release, first: records.offset, end: Some(end) })
    }

    fn events(
        &mut self,
        attributes: Section,
        attribute_size: u64,
    ) -> Result<Vec<EventLayout>, PerfDataError> {
        let broken = |problem| PerfDataError::Broken { offset: attributes.offset, problem };
        if !(16..=MAX_ATTRIBUTE_BYTES).contains(&attribute_size) {
            return Err(broken("the size of an event's description is not valid"));
        }
        let table = self.bytes("the list of events", attributes)?;
        let mut events = Vec::new();
        // Each event has its own section of ids, so together they are no longer than the file.
        let mut left = self.length.min(MAX_DESCRIPTION_BYTES);
        for entry in table.chunks_exact(usize::try_from(attribute_size).unwrap_or(usize::MAX)) {
            let (description, ids) = entry.split_at(entry.len() - 16);
            let mut event = EventLayout::parse(description)
                .ok_or(broken("an event's description is too short"))?;
            let section = Section::parse(&mut Bytes(ids));
            left = left.checked_sub(section.size).ok_or(broken("events share their ids"))?;
            event.ids = words(&self.bytes("the ids of an event", section)?);
            events.push(event);
        }
        Ok(events)
    }

    /// Reads the section of a feature. A table after the records lists the sections of the file's features.
    fn feature(
        &mut self,
        end: u64,
        features: u64,
        number: u32,
    ) -> Result<Option<Vec<u8>>, PerfDataError> {
        if features & (1 << number) == 0 {
            return Ok(None);
        }
        let before = (features & ((1 << number) - 1)).count_ones();
        let offset = end.saturating_add(16 * u64::from(before));
        let place = self.bytes("the table of sections", Section { offset, size: 16 })?;
        let section = Section::parse(&mut Bytes(&place));
        self.bytes("a section behind the records", section).map(Some)
    }

    fn check(&self, what: &'static str, section: Section) -> Result<u64, PerfDataError> {
        let end = section.offset.saturating_add(section.size);
        if end > self.length {
            return Err(PerfDataError::Truncated { what, needed: end, found: self.length });
        }
        Ok(end)
    }

    fn bytes(&mut self, what: &'static str, section: Section) -> Result<Vec<u8>, PerfDataError> {
        self.check(what, section)?;
        if section.size > MAX_DESCRIPTION_BYTES {
            let problem = "a description is too large";
            return Err(PerfDataError::Broken { offset: section.offset, problem });
        }
        self.input.seek(SeekFrom::Start(section.offset))?;
        let mut bytes = vec![0; usize::try_from(section.size).map_err(io::Error::other)?];
        self.input.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

/// Decodes all whole little-endian words.
pub(super) fn words(bytes: &[u8]) -> Vec<u64> {
    let (words, _) = bytes.as_chunks::<8>();
    words.iter().map(|word| u64::from_le_bytes(*word)).collect()
}

/// Decodes a text that follows its length.
pub(super) fn text_in(section: &[u8]) -> Option<String> {
    let mut bytes = Bytes(section);
    let length = usize::try_from(bytes.u32()?).ok()?;
    Some(Bytes(bytes.take(length)?).text())
}

/// Names in the order of the events; stops at the first unreadable one.
pub(super) fn event_names(section: &[u8]) -> Vec<String> {
    let mut names = Vec::new();
    let mut bytes = Bytes(section);
    let (Some(count), Some(size)) = (bytes.u32(), bytes.u32()) else { return names };
    for _ in 0..count {
        let mut one = || {
            bytes.take(usize::try_from(size).ok()?)?;
            let ids = usize::try_from(bytes.u32()?).ok()?;
            let length = usize::try_from(bytes.u32()?).ok()?;
            let name = Bytes(bytes.take(length)?).text();
            bytes.take(ids.checked_mul(8)?)?;
            Some(name)
        };
        let Some(name) = one() else { break };
        names.push(name);
    }
    names
}
