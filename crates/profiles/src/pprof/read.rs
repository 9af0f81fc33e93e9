//! Reader of pprof files: our own without loss, those of other programs as far as possible.

use std::{
    collections::{HashMap, hash_map::Entry},
    io::{BufRead, BufReader, Read},
    sync::Arc,
};

use flate2::bufread::MultiGzDecoder;
use prost::Message;

use super::{
    super::{
        Event, Frame, FrameId, FrameKind, FrameTable, Identities, LineWeight, Profile, ReadOptions,
        Sample, USUAL_PROFILE_BYTES,
        budget::Budget,
        names::{KERNEL_SUFFIX, kind_of},
    },
    COMMENT_EVENT, KINDS, PprofError,
    fields::{fields, fields_of},
    message,
};

/// Numbers of fields that may occur many times.
pub(super) const SAMPLE: u64 = 2;
const LOCATION: u64 = 4;
const FUNCTION: u64 = 5;
const STRING: u64 = 6;
const SOURCE_LINE: u64 = 1000;

/// Size limit of all other fields together: types, mappings, comments.
const MAX_HEAD_BYTES: usize = 4 << 20;

/// Size limit of a function's name.
const MAX_FUNCTION_BYTES: usize = 64 << 10;

/// Limit of the frames of all stacks: a fixed number plus more for each byte of the file. A location takes at least a
/// byte in a stack and may stand for any number of inlined functions.
const FRAMES_BASE: usize = 1 << 20;
const FRAMES_PER_BYTE: usize = 8;

/// Size limit of a name that every sample or every address copies, though the file has it only once.
const MAX_NAME_BYTES: usize = 1024;

/// Reads a pprof file, gzipped or not, written by rabbitscope or by another program.
///
/// From several sample types, takes the file's default, or else the last one that is not 0 in all samples. A note in
/// the capture names the others.
pub fn read_pprof(input: impl Read) -> Result<Profile, PprofError> {
    read_pprof_with(input, ReadOptions::within(USUAL_PROFILE_BYTES))
}

/// Like [`read_pprof`], with a choice of sample type and a limit for decompressed bytes and for memory.
pub fn read_pprof_with(
    input: impl Read,
    ReadOptions { limit_bytes, value }: ReadOptions<'_>,
) -> Result<Profile, PprofError> {
    let mut reader = BufReader::new(input);
    let is_gzip = reader.fill_buf()?.starts_with(&[0x1f, 0x8b]);
    let mut bytes = Vec::new();
    if is_gzip {
        MultiGzDecoder::new(reader).take(limit_bytes + 1).read_to_end(&mut bytes)?;
    } else {
        reader.take(limit_bytes + 1).read_to_end(&mut bytes)?;
    }
    if bytes.len() as u64 > limit_bytes {
        return Err(PprofError::TooLong { limit_bytes });
    }
    Import::new(&bytes, Budget::new(limit_bytes))?.into_profile(value)
}

/// A file with resolved ids. Samples, the bulk of it, are decoded one at a time.
pub(super) struct Import<'a> {
    pub(super) bytes: &'a [u8],
    /// The fields that occur once or a few times.
    pub(super) head: message::Profile,
    strings: Vec<&'a str>,
    pub(super) frames: FrameTable,
    /// Frames by origin and by the name's index in the strings.
    named: HashMap<(Origin, i64), FrameId>,
    /// Frames of each location id, root first.
    pub(super) locations: HashMap<u64, Box<[FrameId]>>,
    pub(super) identities: Identities,
    /// Number of frames that the stacks may still have.
    pub(super) frames_left: usize,
    pub(super) budget: Budget,
}

/// Information about a function's kind, from its mapping's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Origin {
    Known(FrameKind),
    Kernel,
    Other,
}

impl Origin {
    fn from_file(file: &str) -> Self {
        match KINDS.into_iter().find(|(_, known)| *known == file) {
            Some((kind, _)) => Self::Known(kind),
            None if is_kernel(file) => Self::Kernel,
            None => Self::Other,
        }
    }
}

impl<'a> Import<'a> {
    fn new(bytes: &'a [u8], mut budget: Budget) -> Result<Self, PprofError> {
        let (mut strings, mut functions, mut head) = (Vec::new(), HashMap::new(), Vec::new());
        for field in fields(bytes) {
            let field = field?;
            match field.number {
                STRING => {
                    budget.spend(size_of::<&str>())?;
                    let text = std::str::from_utf8(field.content);
                    strings.push(text.map_err(|_| PprofError::Foreign("text not UTF-8".into()))?);
                }
                FUNCTION => {
                    budget.spend_on::<(u64, i64)>(0)?;
                    let function = message::Function::decode(field.small()?)?;
                    functions.insert(function.id, function.name);
                }
                // Counted before the first one is decoded, because there may be millions.
                SAMPLE => budget.spend_on::<Sample>(0)?,
                LOCATION => budget.spend_on::<(u64, Box<[FrameId]>)>(0)?,
                SOURCE_LINE => budget.spend(size_of::<LineWeight>())?,
                _ if head.len() + field.whole.len() > MAX_HEAD_BYTES => {
                    return Err(PprofError::Broken("too much data other than samples".to_owned()));
                }
                _ => head.extend_from_slice(field.whole),
            }
        }
        let mut import = Self {
            bytes,
            head: message::Profile::decode(head.as_slice())?,
            strings,
            frames: FrameTable::default(),
            named: HashMap::new(),
            locations: HashMap::new(),
            identities: Identities::default(),
            frames_left: FRAMES_BASE + FRAMES_PER_BYTE * bytes.len(),
            budget,
        };
        import.read_locations(&functions)?;
        Ok(import)
    }

    fn read_locations(&mut self, functions: &HashMap<u64, i64>) -> Result<(), PprofError> {
        let mut mappings = HashMap::new();
        for mapping in &self.head.mapping {
            let file = self.string(mapping.filename)?;
            mappings.insert(mapping.id, (Origin::from_file(file), file, mapping.memory_start));
        }
        let unmapped = (Origin::Other, "", 0);
        for field in fields_of(self.bytes, LOCATION) {
            let location = message::Location::decode(field?.small()?)?;
            let mapping = mappings.get(&location.mapping_id).copied().unwrap_or(unmapped);
            let frames = self.frames_of(&location, mapping, functions)?;
            self.budget.spend(size_of_val(&*frames))?;
            self.locations.insert(location.id, frames);
        }
        Ok(())
    }

    fn frames_of(
        &mut self,
        location: &message::Location,
        (origin, file, start): (Origin, &str, u64),
        functions: &HashMap<u64, i64>,
    ) -> Result<Box<[FrameId]>, PprofError> {
        if location.line.is_empty() {
            let frame = unnamed_frame(file, location.address.wrapping_sub(start))?;
            return Ok([self.budget.intern(&mut self.frames, frame)?].into());
        }
        let mut frames = Vec::with_capacity(location.line.len());
        for line in location.line.iter().rev() {
            let id = line.function_id;
            let name = *functions
                .get(&id)
                .ok_or_else(|| PprofError::Broken(format!("there is no function {id}")))?;
            frames.push(self.named_frame(origin, name)?);
        }
        Ok(frames.into())
    }

    /// Interns a function's frame once per origin and name.
    fn named_frame(&mut self, origin: Origin, name: i64) -> Result<FrameId, PprofError> {
        if let Some(&known) = self.named.get(&(origin, name)) {
            return Ok(known);
        }
        let frame = named_frame(origin, at_most(self.string(name)?, MAX_FUNCTION_BYTES)?);
        let id = self.budget.intern(&mut self.frames, frame)?;
        self.budget.spend_on::<((Origin, i64), FrameId)>(0)?;
        self.named.insert((origin, name), id);
        Ok(id)
    }

    /// Weights of source lines, which only our own files have.
    pub(super) fn lines(&mut self) -> Result<Vec<LineWeight>, PprofError> {
        let mut files: HashMap<i64, Arc<str>> = HashMap::new();
        let mut lines = Vec::new();
        for field in fields_of(self.bytes, SOURCE_LINE) {
            let message::SourceLine { location_id, file, line, own, total } =
                message::SourceLine::decode(field?.small()?)?;
            let Some(&[frame]) = self.locations.get(&location_id).map(|frames| &**frames) else {
                let problem = format!("a line of location {location_id}, which is no function");
                return Err(PprofError::Broken(problem));
            };
            let file = match files.entry(file) {
                Entry::Occupied(known) => Arc::clone(known.get()),
                Entry::Vacant(new) => {
                    let name = string(&self.strings, file)?;
                    self.budget.spend_on::<(i64, Arc<str>)>(name.len())?;
                    Arc::clone(new.insert(name.into()))
                }
            };
            lines.push(LineWeight { frame, file, line, own, total });
        }
        Ok(lines)
    }

    /// The event that a comment names, which only our own files have.
    pub(super) fn event(&self) -> Result<Option<Event>, PprofError> {
        for &comment in &self.head.comment {
            if let Some(name) = self.string(comment)?.strip_prefix(COMMENT_EVENT) {
                return Event::from_name(name)
                    .map(Some)
                    .ok_or_else(|| PprofError::Broken(format!("unknown event {name}")));
            }
        }
        Ok(None)
    }

    /// Parses the JSON of the comment with prefix `key`.
    pub(super) fn comment<T: serde::de::DeserializeOwned>(
        &self,
        key: &str,
    ) -> Result<Option<T>, PprofError> {
        for &comment in &self.head.comment {
            if let Some(json) = self.string(comment)?.strip_prefix(key) {
                return serde_json::from_str(json)
                    .map(Some)
                    .map_err(|error| PprofError::Broken(format!("comment {key}: {error}")));
            }
        }
        Ok(None)
    }

    pub(super) fn string(&self, id: i64) -> Result<&'a str, PprofError> {
        string(&self.strings, id)
    }
}

fn string<'a>(strings: &[&'a str], id: i64) -> Result<&'a str, PprofError> {
    if id == 0 {
        return Ok("");
    }
    let found = usize::try_from(id).ok().and_then(|id| strings.get(id).copied());
    found.ok_or_else(|| PprofError::Broken(format!("there is no string {id}")))
}

pub(super) fn short(name: &str) -> Result<&str, PprofError> {
    at_most(name, MAX_NAME_BYTES)
}

fn at_most(name: &str, most_bytes: usize) -> Result<&str, PprofError> {
    if name.len() <= most_bytes {
        return Ok(name);
    }
    let problem = format!("a name of {} bytes; at most {most_bytes} are read", name.len());
    Err(PprofError::Broken(problem))
}

fn named_frame(origin: Origin, name: &str) -> Frame {
    let kind = match origin {
        Origin::Known(kind) => return Frame { name: name.to_owned(), kind },
        Origin::Kernel => FrameKind::Kernel,
        Origin::Other => kind_of(name),
    };
    Frame { name: name.strip_suffix(KERNEL_SUFFIX).unwrap_or(name).to_owned(), kind }
}

fn unnamed_frame(file: &str, offset: u64) -> Result<Frame, PprofError> {
    let module = file.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or("[unknown]");
    let module = short(module)?;
    let kind = if is_kernel(file) { FrameKind::Kernel } else { FrameKind::Native };
    Ok(Frame { name: format!("{module}+{offset:#x}"), kind })
}

fn is_kernel(file: &str) -> bool {
    file.starts_with("[kernel") || file.contains("vmlinux")
}
