//! Reads the text of `perf script` line by line.

use super::{
    super::{
        FrameId, Profile, ReadOptions, TooLarge, USUAL_PROFILE_BYTES, UnknownValue,
        perf_events::PerfEvents,
        tally::{Counted, Merged, StackCounts},
    },
    line::{parse_frame, parse_header},
};
use std::io::{self, BufRead, Read};

/// Size limits of a line and of a stack.
const MAX_LINE_BYTES: u64 = 1 << 20;

const MAX_STACK_BYTES: usize = 16 << 20;

/// Limit of the events of one recording.
const MAX_EVENTS: usize = 4096;

/// A failure to read the text.
#[derive(Debug, thiserror::Error)]
pub enum PerfScriptError {
    /// The input could not be read.
    #[error("cannot read perf script text: {0}")]
    Io(#[from] io::Error),
    /// A line differs from the output of `perf script`.
    #[error(
        "line {line}: {problem}; expected the text that `perf script` prints when no fields are \
         chosen with -F"
    )]
    Line {
        /// Counted from 1.
        line: u64,
        /// The defect.
        problem: &'static str,
    },
    /// The text lacks the event that the caller chose.
    #[error(transparent)]
    Value(#[from] UnknownValue),
    /// The profile takes too much memory.
    #[error("{0}")]
    TooLarge(#[from] TooLarge),
    /// The text has no sample.
    #[error("there are no samples in this text")]
    Empty,
}

/// Reads the output of `perf script`.
///
/// Takes the first of several events; a note lists the others.
pub fn read_perf_script(input: impl BufRead) -> Result<Profile, PerfScriptError> {
    read_perf_script_with(input, ReadOptions::within(USUAL_PROFILE_BYTES))
}

/// Like [`read_perf_script`], with a limit and a choice of event.
pub fn read_perf_script_with(
    mut input: impl BufRead,
    options: ReadOptions<'_>,
) -> Result<Profile, PerfScriptError> {
    let mut import = Import { merged: Merged::within(options.limit_bytes), ..Import::default() };
    while import.read_line(&mut input)? {}
    import.finish(options.value)
}

/// Returns whether `start`, the beginning of a file, looks like `perf script` text.
pub fn is_perf_script(start: &[u8]) -> bool {
    let text = String::from_utf8_lossy(start);
    let first = text.lines().find(|line| !line.trim().is_empty() && !line.starts_with('#'));
    first.is_some_and(|line| parse_header(line).is_some())
}

#[derive(Default)]
struct Import {
    line: u64,
    /// The current sample: event and thread, then the stack in the text's form.
    key: Vec<u8>,
    /// The current sample's counts; absent between two samples.
    counted: Option<Counted>,
    events: PerfEvents,
    /// True if the text ends without a line break.
    is_open: bool,
    tally: StackCounts,
    merged: Merged,
}

impl Import {
    /// Reads a line. Returns false at the end.
    fn read_line(&mut self, input: &mut impl BufRead) -> Result<bool, PerfScriptError> {
        let start = self.key.len();
        let mut limited = Read::take(&mut *input, MAX_LINE_BYTES);
        let length = limited.read_until(b'\n', &mut self.key)?;
        if length == 0 {
            self.end_sample()?;
            return Ok(false);
        }
        self.line += 1;
        if self.key.last() != Some(&b'\n') {
            if length as u64 == MAX_LINE_BYTES {
                return Err(self.refuse("longer than a line may be"));
            }
            self.is_open = true;
            self.key.push(b'\n');
        }
        match self.key[start] {
            b'\t' if self.counted.is_some() => {
                if self.key.len() > MAX_STACK_BYTES {
                    return Err(self.refuse("the stack is too long"));
                }
            }
            b'\t' | b'#' => self.key.truncate(start),
            b'\n' | b'\r' => {
                self.key.truncate(start);
                self.end_sample()?;
            }
            _ => {
                let line = self.key.split_off(start);
                self.end_sample()?;
                self.begin_sample(&line)?;
            }
        }
        Ok(true)
    }

    fn refuse(&self, problem: &'static str) -> PerfScriptError {
        PerfScriptError::Line { line: self.line, problem }
    }

    fn begin_sample(&mut self, line: &[u8]) -> Result<(), PerfScriptError> {
        let text = String::from_utf8_lossy(line);
        let header = parse_header(&text)
            .ok_or(self.refuse("neither the beginning of a sample nor a frame"))?;
        let event = self.events.number_of(header.event);
        if self.events.len() > MAX_EVENTS {
            return Err(self.refuse("more events than perf records at once"));
        }
        let weight = self.events.name(event).weight_of_arguments(header.rest);
        let weight = self.events.count(event, header.period, weight);
        self.counted = Some(Counted { weight, count: 1 });
        let event = u32::try_from(event).unwrap_or(u32::MAX);
        self.key.extend_from_slice(&event.to_le_bytes());
        self.key.extend_from_slice(header.thread.as_bytes());
        self.key.push(b'\n');
        // A sample without a chain has its only frame on the header line.
        if header.rest.ends_with(')') && parse_frame(header.rest).is_some() {
            self.key.push(b'\t');
            self.key.extend_from_slice(header.rest.as_bytes());
            self.key.push(b'\n');
        }
        Ok(())
    }

    fn end_sample(&mut self) -> Result<(), TooLarge> {
        if let Some(counted) = self.counted.take() {
            self.tally.add(&self.key, counted);
            if self.tally.is_full() {
                self.name_all()?;
            }
        }
        self.key.clear();
        Ok(())
    }

    /// Turns all counted stacks into named stacks.
    fn name_all(&mut self) -> Result<(), TooLarge> {
        for (key, counted) in self.tally.drain() {
            let Some((event, text)) = key.split_first_chunk() else { continue };
            let text = String::from_utf8_lossy(text);
            let mut lines = text.lines();
            let thread = lines.next().unwrap_or_default();
            let root = self.merged.root(thread)?;
            let frames = lines.filter_map(parse_frame);
            let mut stack: Vec<FrameId> =
                frames.map(|frame| self.merged.intern(frame)).collect::<Result<_, _>>()?;
            stack.push(root);
            stack.reverse();
            self.merged.add(u32::from_le_bytes(*event) as usize, thread, &stack, counted)?;
        }
        Ok(())
    }

    fn finish(mut self, asked: Option<&str>) -> Result<Profile, PerfScriptError> {
        self.name_all()?;
        let chosen = self.events.choose(asked)?.ok_or(PerfScriptError::Empty)?;
        let mut capture = chosen.capture("perf script");
        if self.is_open {
            capture.notes.push(
                "The text ends without a line break; its last line may be cut off.".to_owned(),
            );
        }
        Ok(self.merged.into_profile(&chosen, capture, 0))
    }
}
