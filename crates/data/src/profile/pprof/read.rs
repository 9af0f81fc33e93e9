//! From pprof to a profile: our own files without loss, those of other programs as far as they go.

use std::{
    collections::HashMap,
    io::{self, BufRead, BufReader, Read},
    sync::Arc,
};

use flate2::bufread::MultiGzDecoder;
use prost::Message;

use super::{
    super::{
        Capture, Event, Frame, FrameId, FrameKind, FrameTable, Identities, Identity, Labels,
        LineWeight, Mode, Profile, Sample, StackEntry, StackOutcome, StackQuality, Times,
        names::{KERNEL_SUFFIX, kind_of},
    },
    COMMENT_CAPTURE, COMMENT_EVENT, COMMENT_QUALITY, KEPT_LABELS, KINDS, LABEL_CHANNEL,
    LABEL_CONNECTION, LABEL_MODE, LABEL_NAME, LABEL_OUTCOME, LABEL_PROCESS, LABEL_QUEUE,
    LABEL_ROLE, LABEL_THREAD, LABEL_VHOST, MODES, OUTCOMES, message,
};

/// Bytes that a file may have after decompression. Ten minutes of a busy node need a hundredth.
const SIZE_LIMIT: u64 = 2 << 30;

/// Frames that all stacks may have together: so many, and so many more for each byte of the file. A
/// location takes at least a byte in a stack and may stand for any number of inlined functions.
const FRAMES_BASE: usize = 1 << 20;
const FRAMES_PER_BYTE: usize = 8;

/// Longest name of which every sample, or every address, keeps a copy. A file has it only once.
const MOST_NAME_BYTES: usize = 1024;

/// Why a pprof file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum PprofError {
    /// The input could not be read, or its compression is broken.
    #[error("cannot read pprof: {0}")]
    Io(#[from] io::Error),
    /// The bytes are not a `profile.proto` message.
    #[error("not a pprof file: {0}")]
    Decode(#[from] prost::DecodeError),
    /// The message lacks something, or refers to something that it does not hold.
    #[error("broken pprof file: {0}")]
    Broken(String),
}

/// Reads a pprof file, gzipped or not, written by rabbitscope or by another program.
///
/// Of a file with several sample types, `samples` is taken, or else the file's default, or else the
/// last; a note in the capture says so when the weights are not numbers of samples.
pub fn read_pprof(input: impl Read) -> Result<Profile, PprofError> {
    let mut reader = BufReader::new(input);
    let is_gzip = reader.fill_buf()?.starts_with(&[0x1f, 0x8b]);
    let mut bytes = Vec::new();
    if is_gzip {
        MultiGzDecoder::new(reader).take(SIZE_LIMIT + 1).read_to_end(&mut bytes)?;
    } else {
        reader.take(SIZE_LIMIT + 1).read_to_end(&mut bytes)?;
    }
    if bytes.len() as u64 > SIZE_LIMIT {
        return Err(PprofError::Broken(format!("larger than {SIZE_LIMIT} bytes")));
    }
    let most_frames = FRAMES_BASE + FRAMES_PER_BYTE * bytes.len();
    Import::new(&message::Profile::decode(bytes.as_slice())?, most_frames)?.into_profile()
}

/// A decoded file with its ids resolved.
struct Import<'a> {
    message: &'a message::Profile,
    frames: FrameTable,
    /// Root first, by location id.
    locations: HashMap<u64, Vec<FrameId>>,
    identities: Identities,
    /// Frames that the stacks may still have.
    frames_left: usize,
}

impl<'a> Import<'a> {
    fn new(message: &'a message::Profile, most_frames: usize) -> Result<Self, PprofError> {
        let mut import = Self {
            message,
            frames: FrameTable::default(),
            locations: HashMap::new(),
            identities: Identities::default(),
            frames_left: most_frames,
        };
        let functions: HashMap<u64, i64> =
            message.function.iter().map(|function| (function.id, function.name)).collect();
        let mappings: HashMap<u64, &message::Mapping> =
            message.mapping.iter().map(|mapping| (mapping.id, mapping)).collect();
        for location in &message.location {
            let mapping = mappings.get(&location.mapping_id).copied();
            let frames = import.frames_of(location, mapping, &functions)?;
            import.locations.insert(location.id, frames);
        }
        Ok(import)
    }

    fn frames_of(
        &mut self,
        location: &message::Location,
        mapping: Option<&message::Mapping>,
        functions: &HashMap<u64, i64>,
    ) -> Result<Vec<FrameId>, PprofError> {
        let file = mapping.map_or(Ok(""), |mapping| self.string(mapping.filename))?;
        if location.line.is_empty() {
            let start = mapping.map_or(0, |mapping| mapping.memory_start);
            let frame = unnamed_frame(file, location.address.wrapping_sub(start))?;
            return Ok(vec![self.frames.intern(frame)]);
        }
        let mut frames = Vec::with_capacity(location.line.len());
        for line in location.line.iter().rev() {
            let id = line.function_id;
            let name = *functions
                .get(&id)
                .ok_or_else(|| PprofError::Broken(format!("there is no function {id}")))?;
            frames.push(named_frame(file, self.string(name)?));
        }
        Ok(frames.into_iter().map(|frame| self.frames.intern(frame)).collect())
    }

    fn into_profile(mut self) -> Result<Profile, PprofError> {
        let event = self.event()?;
        let (index, note) =
            if event.is_weighted() { (self.last_value()?, None) } else { self.weight_index()? };
        let note = note.filter(|_| event == Event::Cpu);
        let count_index = if event.is_weighted() { 0 } else { index };
        let samples = self.samples(index, count_index)?;
        let mut capture = self.capture(note)?;
        let quality = self.comment(COMMENT_QUALITY)?.unwrap_or_else(|| {
            capture.notes.push("The file carries no statement of stack quality.".to_owned());
            StackQuality::default()
        });
        let lines = self.lines()?;
        let Self { frames, identities, .. } = self;
        Ok(Profile { event, capture, quality, frames, samples, identities, lines })
    }

    /// What only our own files have.
    fn lines(&self) -> Result<Vec<LineWeight>, PprofError> {
        let mut files: HashMap<i64, Arc<str>> = HashMap::new();
        let mut lines = Vec::with_capacity(self.message.source_line.len());
        for &message::SourceLine { location_id, file, line, own, total } in
            &self.message.source_line
        {
            let Some(&[frame]) = self.locations.get(&location_id).map(Vec::as_slice) else {
                let problem = format!("a line of location {location_id}, which is no function");
                return Err(PprofError::Broken(problem));
            };
            let file = match files.get(&file) {
                Some(known) => Arc::clone(known),
                None => Arc::clone(files.entry(file).or_insert(self.string(file)?.into())),
            };
            lines.push(LineWeight { frame, file, line, own, total });
        }
        Ok(lines)
    }

    /// Ours say what they are; others are taken for CPU time.
    fn event(&self) -> Result<Event, PprofError> {
        for &comment in &self.message.comment {
            if let Some(name) = self.string(comment)?.strip_prefix(COMMENT_EVENT) {
                return Event::from_name(name)
                    .ok_or_else(|| PprofError::Broken(format!("the event {name} is not known")));
            }
        }
        Ok(Event::Cpu)
    }

    fn last_value(&self) -> Result<usize, PprofError> {
        self.message
            .sample_type
            .len()
            .checked_sub(1)
            .ok_or_else(|| PprofError::Broken("it has no sample type".to_owned()))
    }

    /// Which of the values is the weight, and what to say when it is not a number of samples.
    fn weight_index(&self) -> Result<(usize, Option<String>), PprofError> {
        let types = &self.message.sample_type;
        let is_named = |name: &str| {
            types.iter().position(|it| self.string(it.r#type).is_ok_and(|text| text == name))
        };
        if let Some(index) = is_named(self.event()?.occurrences()) {
            return Ok((index, None));
        }
        let default = self.string(self.message.default_sample_type)?;
        let last = self.last_value()?;
        let index = is_named(default).unwrap_or(last);
        let (name, unit) = (self.string(types[index].r#type)?, self.string(types[index].unit)?);
        Ok((index, Some(format!("Weights are `{name}` in {unit}, not numbers of samples."))))
    }

    fn samples(&mut self, index: usize, count_index: usize) -> Result<Vec<Sample>, PprofError> {
        let mut samples = Vec::with_capacity(self.message.sample.len());
        let mut total = 0_u64;
        for sample in &self.message.sample {
            let value = |index: usize| {
                let value = sample.value.get(index).and_then(|value| u64::try_from(*value).ok());
                value
                    .ok_or_else(|| PprofError::Broken("a sample without a proper value".to_owned()))
            };
            let (weight, count) = (value(index)?, value(count_index)?);
            total = total
                .checked_add(weight)
                .ok_or_else(|| PprofError::Broken("the sum of values is too large".to_owned()))?;
            let stack = self.stack(&sample.location_id)?;
            let labels = self.labels(&sample.label, &stack)?;
            let times = Times::from_bytes(sample.times.clone())
                .ok_or_else(|| PprofError::Broken("a sample with broken times".to_owned()))?;
            samples.push(Sample { stack, labels, weight, count, times });
        }
        Ok(samples)
    }

    fn stack(&mut self, leaf_first: &[u64]) -> Result<Vec<StackEntry>, PprofError> {
        let mut stack: Vec<StackEntry> = Vec::new();
        for id in leaf_first.iter().rev() {
            let frames = self
                .locations
                .get(id)
                .ok_or_else(|| PprofError::Broken(format!("there is no location {id}")))?;
            self.frames_left = self.frames_left.checked_sub(frames.len()).ok_or_else(|| {
                PprofError::Broken("its stacks have far more frames than it has bytes".to_owned())
            })?;
            for &frame in frames {
                match stack.last_mut() {
                    Some(last) if last.frame == frame => last.repeat += 1,
                    _ => stack.push(StackEntry { frame, repeat: 1 }),
                }
            }
        }
        if stack.is_empty() {
            let name = "[no stack]".to_owned();
            let frame = self.frames.intern(Frame { name, kind: FrameKind::Native });
            stack.push(StackEntry { frame, repeat: 1 });
        }
        Ok(stack)
    }

    fn labels(
        &mut self,
        labels: &[message::Label],
        stack: &[StackEntry],
    ) -> Result<Labels, PprofError> {
        let mut texts: HashMap<&str, &str> = HashMap::new();
        for label in labels {
            let (key, text) = (self.string(label.key)?, self.string(label.str)?);
            if KEPT_LABELS.contains(&key) {
                texts.insert(key, short(text)?);
            }
        }
        self.add_identity(&texts);
        let mode = texts.get(LABEL_MODE);
        let outcome = texts.get(LABEL_OUTCOME);
        Ok(Labels {
            process: texts.get(LABEL_PROCESS).map(|text| (*text).to_owned()),
            thread: texts.get(LABEL_THREAD).map(|text| (*text).to_owned()).unwrap_or_default(),
            mode: MODES
                .iter()
                .find(|(_, name)| Some(name) == mode)
                .map_or_else(|| self.mode_of(stack), |(mode, _)| *mode),
            outcome: OUTCOMES
                .into_iter()
                .find(|known| Some(&known.name()) == outcome)
                .unwrap_or(StackOutcome::Unknown),
        })
    }

    /// Remembers what the labels of a sample say of its process.
    fn add_identity(&mut self, texts: &HashMap<&str, &str>) {
        let text = |key| texts.get(key).map(|text| (*text).to_owned());
        let Some((process, role)) = text(LABEL_PROCESS).zip(text(LABEL_ROLE)) else { return };
        let name = [LABEL_QUEUE, LABEL_CHANNEL, LABEL_NAME].into_iter().find_map(text);
        self.identities.entry(process).or_insert_with(|| Identity {
            role,
            name: name.unwrap_or_default(),
            vhost: text(LABEL_VHOST).unwrap_or_default(),
            connection: text(LABEL_CONNECTION).unwrap_or_default(),
        });
    }

    fn mode_of(&self, stack: &[StackEntry]) -> Mode {
        match stack.last().map(|leaf| self.frames.get(leaf.frame).kind) {
            Some(FrameKind::Kernel) => Mode::Kernel,
            _ => Mode::User,
        }
    }

    fn capture(&self, note: Option<String>) -> Result<Capture, PprofError> {
        if let Some(capture) = self.comment(COMMENT_CAPTURE)? {
            return Ok(capture);
        }
        let message = self.message;
        let counts_nanos = message
            .period_type
            .is_some_and(|period| self.string(period.unit).is_ok_and(|unit| unit == "nanoseconds"));
        Ok(Capture {
            recorder: "pprof".to_owned(),
            started_unix_nanos: u64::try_from(message.time_nanos).unwrap_or(0),
            duration_nanos: u64::try_from(message.duration_nanos).unwrap_or(0),
            period_nanos: if counts_nanos { u64::try_from(message.period).unwrap_or(0) } else { 0 },
            notes: note.into_iter().collect(),
            ..Capture::default()
        })
    }

    /// The value of the comment that starts with `key`.
    fn comment<T: serde::de::DeserializeOwned>(&self, key: &str) -> Result<Option<T>, PprofError> {
        for &comment in &self.message.comment {
            if let Some(json) = self.string(comment)?.strip_prefix(key) {
                return serde_json::from_str(json)
                    .map(Some)
                    .map_err(|error| PprofError::Broken(format!("comment {key}: {error}")));
            }
        }
        Ok(None)
    }

    fn string(&self, id: i64) -> Result<&'a str, PprofError> {
        if id == 0 {
            return Ok("");
        }
        usize::try_from(id)
            .ok()
            .and_then(|id| self.message.string_table.get(id))
            .map(String::as_str)
            .ok_or_else(|| PprofError::Broken(format!("there is no string {id}")))
    }
}

fn short(name: &str) -> Result<&str, PprofError> {
    if name.len() <= MOST_NAME_BYTES {
        return Ok(name);
    }
    let problem = format!("a name of {} bytes; at most {MOST_NAME_BYTES} are read", name.len());
    Err(PprofError::Broken(problem))
}

fn named_frame(file: &str, name: &str) -> Frame {
    if let Some((kind, _)) = KINDS.into_iter().find(|(_, known)| *known == file) {
        return Frame { name: name.to_owned(), kind };
    }
    let kind = if is_kernel(file) { FrameKind::Kernel } else { kind_of(name) };
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
