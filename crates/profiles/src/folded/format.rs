//! Reader and writer of folded stacks.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    fmt::Write as _,
    io::{self, BufRead, Read, Write},
};

use super::super::{
    Capture, Event, Frame, FrameKind, FrameTable, Labels, Profile, ReadOptions, Sample, StackEntry,
    Times, TooLarge, USUAL_PROFILE_BYTES, UnknownValue, ValueName,
    budget::Budget,
    names::{KERNEL_SUFFIX, kind_of, kind_of_root},
};
use super::counts::{MAX_TOTAL, ONE, largest_piece, piece_name, read_count};

/// Size limit of a line. A stack of a thousand frames with long names needs a tenth of it.
const MAX_LINE_BYTES: u64 = 16 << 20;

/// Placeholder for a frame without a name.
const UNNAMED: &str = "[unnamed]";

/// Memory of a frame in the table and its index, without its name.
const FRAME_BYTES: usize = 2 * size_of::<Frame>() + 32;

/// A failure to read a folded file.
#[derive(Debug, thiserror::Error)]
pub enum FoldedError {
    /// The input could not be read, or is not text.
    #[error("cannot read folded stacks: {0}")]
    Io(#[from] io::Error),
    /// A line is not `frame;frame;… count`.
    #[error("line {line}: {problem}; expected `frame;frame;… count`")]
    Line {
        /// Counted from 1.
        line: usize,
        /// The defect.
        problem: &'static str,
    },
    /// The fractions make the sum of counts too large.
    #[error("the sum of counts is too large in {unit}; round the counts first")]
    Fractions {
        /// The unit that the smallest count needs.
        unit: &'static str,
    },
    /// The file lacks the value that the caller chose.
    #[error(transparent)]
    Value(#[from] UnknownValue),
    /// The profile takes too much memory.
    #[error("{0}")]
    TooLarge(#[from] TooLarge),
}

/// Writes `profile` as folded stacks: identical lines merged, sorted, recursion expanded.
pub fn write_folded(profile: &Profile, mut out: impl Write) -> io::Result<()> {
    let names: Vec<String> = profile.frames.iter().map(|(_, frame)| written_name(frame)).collect();
    let mut lines: BTreeMap<&[StackEntry], u64> = BTreeMap::new();
    for sample in &profile.samples {
        *lines.entry(&sample.stack).or_default() += sample.weight;
    }
    let mut merged: BTreeMap<String, u64> = BTreeMap::new();
    for (stack, weight) in lines {
        *merged.entry(written_stack(stack, &names)).or_default() += weight;
    }
    for (line, weight) in merged {
        writeln!(out, "{line} {weight}")?;
    }
    Ok(())
}

fn written_stack(stack: &[StackEntry], names: &[String]) -> String {
    let mut line = String::new();
    for entry in stack {
        for _ in 0..entry.repeat {
            if !line.is_empty() {
                line.push(';');
            }
            line.push_str(&names[entry.frame.0 as usize]);
        }
    }
    // A line that begins with `#` would be a comment.
    if line.starts_with('#') {
        line.replace_range(..1, "\\x23");
    }
    line
}

fn written_name(frame: &Frame) -> String {
    let mut name = escape(&frame.name);
    if frame.kind == FrameKind::Kernel {
        name.push_str(KERNEL_SUFFIX);
    }
    name
}

/// Escapes characters that would end a frame or a line, and spaces that a reader may trim.
fn escape(name: &str) -> String {
    if name.is_empty() {
        return UNNAMED.to_owned();
    }
    let inner = name.trim_matches(' ');
    let first = name.len() - name.trim_start_matches(' ').len();
    let mut escaped = String::with_capacity(name.len());
    for (index, character) in name.char_indices() {
        match character {
            '\\' => escaped.push_str("\\\\"),
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\t' => escaped.push_str("\\t"),
            ';' => escaped.push_str("\\x3b"),
            ' ' if index < first || index >= first + inner.len() => escaped.push_str("\\x20"),
            control if control.is_ascii_control() => {
                let _ = write!(escaped, "\\x{:02x}", u32::from(control));
            }
            other => escaped.push(other),
        }
    }
    escaped
}

/// Undoes [`escape`]. Other tools know no escapes, so a foreign backslash stays as it is.
fn unescape(name: &str) -> Cow<'_, str> {
    if !name.contains('\\') {
        return Cow::Borrowed(name);
    }
    let mut plain = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(index) = rest.find('\\') {
        plain.push_str(&rest[..index]);
        let (character, length) = unescape_one(&rest[index..]);
        plain.push(character);
        rest = &rest[index + length..];
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

/// Returns the character of the escape at the start of `text`, and the escape's length.
fn unescape_one(text: &str) -> (char, usize) {
    match text.as_bytes().get(1) {
        Some(b'\\') => ('\\', 2),
        Some(b'n') => ('\n', 2),
        Some(b'r') => ('\r', 2),
        Some(b't') => ('\t', 2),
        Some(b'x') => text
            .get(2..4)
            .and_then(|digits| u8::from_str_radix(digits, 16).ok())
            .filter(u8::is_ascii)
            .map_or(('\\', 1), |byte| (char::from(byte), 4)),
        _ => ('\\', 1),
    }
}

/// Reads folded stacks. Empty lines and lines that start with `#` are skipped.
pub fn read_folded(input: impl BufRead) -> Result<Profile, FoldedError> {
    read_folded_with(input, ReadOptions::within(USUAL_PROFILE_BYTES))
}

/// Like [`read_folded`], with a limit. The counts have no name, so a choice of value fails.
pub fn read_folded_with(
    mut input: impl BufRead,
    options: ReadOptions<'_>,
) -> Result<Profile, FoldedError> {
    if let Some(asked) = options.value {
        return Err(UnknownValue { asked: asked.to_owned(), known: Vec::new() }.into());
    }
    let mut budget = Budget::new(options.limit_bytes);
    let note = "Folded stacks have no labels and no information on stack quality.";
    let mut profile = Profile {
        capture: Capture {
            recorder: "folded stacks".to_owned(),
            notes: vec![note.to_owned()],
            ..Capture::default()
        },
        ..Profile::default()
    };
    let mut merged: BTreeMap<Vec<StackEntry>, u128> = BTreeMap::new();
    let mut total = 0_u128;
    let mut line = String::new();
    for number in 1.. {
        line.clear();
        let length = Read::take(&mut input, MAX_LINE_BYTES).read_line(&mut line)?;
        if length == 0 {
            break;
        }
        if length as u64 == MAX_LINE_BYTES {
            let problem = "longer than a line may be";
            return Err(FoldedError::Line { line: number, problem });
        }
        // Non-ASCII white space may be part of a name.
        let text = line.trim_ascii_end();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let frames = profile.frames.len();
        let (stack, weight) = read_line(text, &mut profile.frames)
            .map_err(|problem| FoldedError::Line { line: number, problem })?;
        total += weight;
        if total > MAX_TOTAL {
            let problem = "the sum of counts is too large";
            return Err(FoldedError::Line { line: number, problem });
        }
        // New frames have their names in this line, once each.
        if profile.frames.len() > frames {
            budget.spend((profile.frames.len() - frames) * FRAME_BYTES + 2 * length)?;
        }
        if !merged.contains_key(&stack) {
            budget.spend_on::<Sample>(size_of_val(stack.as_slice()))?;
        }
        *merged.entry(stack).or_default() += weight;
    }
    with_samples(profile, merged, total)
}

/// Adds the stacks, whose counts are in millionths, to the profile.
fn with_samples(
    mut profile: Profile,
    merged: BTreeMap<Vec<StackEntry>, u128>,
    total: u128,
) -> Result<Profile, FoldedError> {
    let piece = largest_piece(merged.values());
    if total / piece > u64::MAX.into() {
        return Err(FoldedError::Fractions { unit: piece_name(piece) });
    }
    if piece < ONE {
        profile.event = Event::Imported;
        profile.capture.value = Some(ValueName::new("weights", piece_name(piece)));
    }
    let sample = |(stack, millionths): (Vec<StackEntry>, u128)| {
        let whole = |unit: u128| u64::try_from(millionths.div_ceil(unit)).unwrap_or(u64::MAX);
        let labels = Labels::from_import("", &stack, &profile.frames);
        let (weight, count) = (whole(piece), whole(ONE));
        Sample { labels, stack, weight, count, times: Times::default() }
    };
    profile.samples = merged.into_iter().map(sample).collect();
    Ok(profile)
}

fn read_line(text: &str, frames: &mut FrameTable) -> Result<(Vec<StackEntry>, u128), &'static str> {
    let (stack, count) = text.rsplit_once(' ').ok_or("no space before the count")?;
    let weight = read_count(count).ok_or("the count is not a number")?;
    let mut entries: Vec<StackEntry> = Vec::new();
    let stack = stack.trim_ascii();
    if stack.is_empty() {
        return Err("no stack before the count");
    }
    // Some of Java's names end in a semicolon.
    for (depth, name) in stack.split(';').enumerate() {
        let name = if name.is_empty() { UNNAMED } else { name };
        let frame = frames.intern(read_frame(name, depth == 0));
        StackEntry::push(&mut entries, frame, 1);
    }
    Ok((entries, weight))
}

fn read_frame(name: &str, is_root: bool) -> Frame {
    let kind = if is_root { kind_of_root(name) } else { kind_of(name) };
    let bare = match kind {
        FrameKind::Kernel => name.strip_suffix(KERNEL_SUFFIX).unwrap_or(name),
        _ => name,
    };
    Frame { name: unescape(bare).into_owned(), kind }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mode;

    fn rewritten(text: &str) -> String {
        let profile = read_folded(text.as_bytes()).unwrap();
        let mut out = Vec::new();
        write_folded(&profile, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn check(text: &str, expected: &str) {
        assert_eq!(rewritten(text), expected);
    }

    fn check_refused(text: &str, expected: &str) {
        let error = read_folded(text.as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn what_is_read_is_written_again() {
        let line = "scheduler;lists:map/2;lists:map/2;global::i_generic;enif_alloc;brk_[k] 12\n";
        check(line, line);
        check("b 1\r\n\n# a comment\na 2\n", "a 2\nb 1\n");
        check("a;b 1\na;b 2\n", "a;b 3\n");
    }

    #[test]
    fn no_name_makes_a_comment_or_vanishes() {
        check(" #a;b 1\n", "\\x23a;b 1\n");
        check("\\x23a;#b 1\n", "\\x23a;#b 1\n");
        check("a;\u{a0} 1\n\u{3000} 2\n", "a;\u{a0} 1\n\u{3000} 2\n");
    }

    #[test]
    fn a_frame_may_have_no_name() {
        check("java;;run 2\n", "java;[unnamed];run 2\n");
        check("java;run; 2\n;run 1\n", "[unnamed];run 1\njava;run;[unnamed] 2\n");
    }

    #[test]
    fn kinds_are_recovered_and_recursion_is_collapsed() {
        let profile =
            read_folded(&b"aux;m:f/1;m:f/1;global::gc;read;vfs_read_[k] 3\n"[..]).unwrap();
        let kinds: Vec<FrameKind> = profile.frames.iter().map(|(_, frame)| frame.kind).collect();
        let expected = [
            FrameKind::Thread,
            FrameKind::Erlang,
            FrameKind::VmFragment,
            FrameKind::Native,
            FrameKind::Kernel,
        ];
        assert_eq!(kinds, expected);
        let sample = &profile.samples[0];
        let repeats: Vec<u32> = sample.stack.iter().map(|entry| entry.repeat).collect();
        assert_eq!(repeats, [1, 2, 1, 1, 1]);
        assert_eq!((sample.weight, sample.labels.mode), (3, Mode::Kernel));
    }

    #[test]
    fn names_that_would_break_a_line_are_escaped() {
        for (name, expected) in [
            ("a;b", "a\\x3bb"),
            (" x y ", "\\x20x y\\x20"),
            ("two\nlines\r\t", "two\\nlines\\r\\t"),
            ("back\\slash", "back\\\\slash"),
            ("bell\u{7}", "bell\\x07"),
            ("  ", "\\x20\\x20"),
            ("größe", "größe"),
        ] {
            assert_eq!(escape(name), expected);
            assert_eq!(unescape(expected), name);
        }
        assert_eq!(unescape("foreign\\q\\xzz\\"), "foreign\\q\\xzz\\");
    }

    #[test]
    fn a_malformed_line_is_named() {
        let rest = "; expected `frame;frame;… count`";
        check_refused("a 1\nb", &format!("line 2: no space before the count{rest}"));
        for count in ["b", "-1", "1e3", ".5", "1.2.3", "1,5", "0x1"] {
            check_refused(
                &format!("a {count}"),
                &format!("line 1: the count is not a number{rest}"),
            );
        }
        check_refused(" 1", &format!("line 1: no stack before the count{rest}"));
        let most = u64::MAX;
        let sum = format!("line 2: the sum of counts is too large{rest}");
        check_refused(&format!("a {most}\nb 1"), &sum);
    }
}
