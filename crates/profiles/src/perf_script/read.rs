//! Reads the text of `perf script`, line by line.

use super::super::{
    Capture, FrameId, Profile, TooLarge, USUAL_PROFILE_BYTES,
    names::{generated_frame, kernel_frame, module_frame, native_frame},
    perf_events::{ForeignEvent, OtherEvents},
    tally::{Counted, Merged, StackCounts},
};
use std::io::{self, BufRead, Read};

/// Longest line, and longest stack in bytes, that are believed.
const MAX_LINE_BYTES: u64 = 1 << 20;

const MAX_STACK_BYTES: usize = 16 << 20;

/// Why the text could not be read.
#[derive(Debug, thiserror::Error)]
pub enum PerfScriptError {
    /// The input could not be read.
    #[error("cannot read perf script text: {0}")]
    Io(#[from] io::Error),
    /// A line is not what `perf script` prints.
    #[error(
        "line {line}: {problem}; expected the text that `perf script` prints when no fields are \
         chosen with -F"
    )]
    Line {
        /// Counted from 1.
        line: u64,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// What it holds takes too much memory.
    #[error("{0}")]
    TooLarge(#[from] TooLarge),
    /// No sample at all.
    #[error("there are no samples in this text")]
    Empty,
}

/// Reads what `perf script` printed.
///
/// Of several events the first is taken; a note says which others there are.
pub fn read_perf_script(input: impl BufRead) -> Result<Profile, PerfScriptError> {
    read_perf_script_within(input, USUAL_PROFILE_BYTES)
}

/// As [`read_perf_script`], with another limit for the memory that the profile takes.
pub fn read_perf_script_within(
    mut input: impl BufRead,
    limit_bytes: u64,
) -> Result<Profile, PerfScriptError> {
    let mut import = Import { merged: Merged::within(limit_bytes), ..Import::default() };
    while import.read_line(&mut input)? {}
    import.finish()
}

/// Whether `start`, the beginning of a file, looks like such text.
pub fn is_perf_script(start: &[u8]) -> bool {
    let text = String::from_utf8_lossy(start);
    let first = text.lines().find(|line| !line.trim().is_empty() && !line.starts_with('#'));
    first.is_some_and(|line| parse_header(line).is_some())
}

#[derive(Default)]
struct Import {
    line: u64,
    /// The stack of the sample that is being read, as it stands in the text, after what identifies
    /// its thread.
    key: Vec<u8>,
    /// The sample that is being read; absent between two samples, and while one is left out.
    counted: Option<Counted>,
    event: Option<ForeignEvent>,
    others: OtherEvents,
    tally: StackCounts,
    merged: Merged,
}

/// The line above a stack.
#[derive(Debug, PartialEq, Eq)]
struct Header<'a> {
    thread: &'a str,
    event: &'a str,
    /// What follows the event: arguments, or the only frame.
    rest: &'a str,
}

impl Import {
    /// Reads a line. False at the end.
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
            let is_long = length as u64 == MAX_LINE_BYTES;
            return Err(self.refuse(if is_long {
                "longer than any line of such text"
            } else {
                "the text ends in the middle of this line, so it was cut off"
            }));
        }
        match self.key[start] {
            b'\t' if self.counted.is_some() => {
                if self.key.len() > MAX_STACK_BYTES {
                    return Err(self.refuse("a stack longer than any real one"));
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
        let event = self.event.get_or_insert_with(|| ForeignEvent::of(header.event));
        if event.name != header.event {
            self.others.add(header.event);
            return Ok(());
        }
        self.counted = Some(Counted { weight: event.weight_of_arguments(header.rest), count: 1 });
        self.key.extend_from_slice(header.thread.as_bytes());
        self.key.push(b'\n');
        // Samples without a chain have their only frame on the same line.
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

    /// Turns all that was counted into named stacks.
    fn name_all(&mut self) -> Result<(), TooLarge> {
        for (key, counted) in self.tally.drain() {
            let text = String::from_utf8_lossy(&key);
            let mut lines = text.lines();
            let thread = lines.next().unwrap_or_default();
            let root = self.merged.root(thread)?;
            let frames = lines.filter_map(parse_frame);
            let mut stack: Vec<FrameId> =
                frames.map(|frame| self.merged.intern(frame)).collect::<Result<_, _>>()?;
            stack.push(root);
            stack.reverse();
            self.merged.add(thread, &stack, counted)?;
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Profile, PerfScriptError> {
        self.name_all()?;
        let event = self.event.ok_or(PerfScriptError::Empty)?;
        let mut notes = event.notes();
        notes.extend(self.others.note());
        let capture = Capture {
            recorder: "perf script".to_owned(),
            clock: event.name,
            notes,
            ..Capture::default()
        };
        Ok(self.merged.into_profile(event.event, capture, 0))
    }
}

/// `thread pid[/tid] [cpu] 1234.567890: [period] event: rest`.
fn parse_header(line: &str) -> Option<Header<'_>> {
    let line = line.trim_end();
    let (colon, _) = line.match_indices(": ").find(|&(at, _)| is_time(last_word(&line[..at])))?;
    let (before, after) = (&line[..colon], line[colon + 2..].trim_start());
    let before = before[..before.len() - last_word(before).len()].trim_end();
    let before = match before.rsplit_once(' ') {
        Some((rest, cpu)) if cpu.starts_with('[') && cpu.ends_with(']') => rest.trim_end(),
        _ => before,
    };
    let id = last_word(before);
    let is_id = id.split('/').all(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
    let thread = before[..before.len() - id.len()].trim();
    if id.is_empty() || !is_id || thread.is_empty() {
        return None;
    }
    let (first, rest) = word_and_rest(after);
    let is_period = !first.is_empty() && first.bytes().all(|byte| byte.is_ascii_digit());
    let (event, rest) = if is_period { word_and_rest(rest) } else { (first, rest) };
    let event = event.strip_suffix(':')?;
    Some(Header { thread, event, rest })
}

fn last_word(text: &str) -> &str {
    text.rsplit(char::is_whitespace).next().unwrap_or(text)
}

fn word_and_rest(text: &str) -> (&str, &str) {
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    (&text[..end], text[end..].trim_start())
}

fn is_time(word: &str) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|it| it.is_ascii_digit());
    word.split_once('.').is_some_and(|(whole, part)| is_number(whole) && is_number(part))
}

/// `address symbol+0x12 (file)`; the offset, the file or the whole symbol may be missing.
fn parse_frame(line: &str) -> Option<super::super::Frame> {
    let (address, rest) = word_and_rest(line.trim());
    let is_kernel = u64::from_str_radix(address, 16).ok()? >> 63 == 1;
    let rest = rest.trim_end_matches(" (inlined)");
    let (symbol, file) = match rest.rsplit_once(" (") {
        Some((symbol, file)) => (symbol, file.strip_suffix(')').unwrap_or(file)),
        None => (rest, ""),
    };
    let symbol = without_offset(symbol.trim());
    let is_known = !symbol.is_empty() && symbol != "[unknown]";
    if is_kernel {
        return Some(kernel_frame(is_known.then_some(symbol)));
    }
    Some(match (is_known, file) {
        (true, file) if is_map(file) => generated_frame(symbol),
        (true, _) => native_frame(symbol),
        (false, "" | "[unknown]") => module_frame("unknown"),
        (false, file) => module_frame(file),
    })
}

fn without_offset(symbol: &str) -> &str {
    match symbol.rsplit_once("+0x") {
        Some((name, offset)) if offset.bytes().all(|byte| byte.is_ascii_hexdigit()) => name,
        _ => symbol,
    }
}

/// `/tmp/perf-PID.map`, in which a process says what it generated.
fn is_map(file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file);
    name.strip_prefix("perf-").and_then(|rest| rest.strip_suffix(".map")).is_some()
}
