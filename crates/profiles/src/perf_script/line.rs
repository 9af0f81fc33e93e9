//! Parser of the two kinds of lines with content: headers of samples, and frames.

use super::super::{
    Frame,
    names::{generated_frame, kernel_frame, module_frame, native_frame},
};

/// The event's name if the text lacks the field.
const NO_EVENT: &str = "samples";

/// The header line above a stack.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Header<'a> {
    pub(super) thread: &'a str,
    /// Number of occurrences that the sample stands for.
    pub(super) period: Option<u64>,
    pub(super) event: &'a str,
    /// The text after the event: arguments, or the only frame.
    pub(super) rest: &'a str,
}

/// Parses `thread pid[/tid] [cpu] 1234.567890: [period] event: rest`. Processor, time, period and event may be missing,
/// but time and event not both.
pub(super) fn parse_header(line: &str) -> Option<Header<'_>> {
    let line = line.trim_end();
    timed_header(line).or_else(|| untimed_header(line))
}

/// Parses a header by its time stamp, the only field with an unmistakable form.
fn timed_header(line: &str) -> Option<Header<'_>> {
    let is_end = |colon: usize| line[colon + 1..].starts_with(' ') || line.len() == colon + 1;
    let mut colons = line.match_indices(':').map(|(colon, _)| colon);
    let colon = colons.find(|&colon| is_end(colon) && is_time(last_word(&line[..colon])))?;
    let (before, after) = (&line[..colon], line[colon + 1..].trim_start());
    let before = before[..before.len() - last_word(before).len()].trim_end();
    let thread = thread_of(before)?;
    let (period, event, rest) = event_in(after).unwrap_or((None, NO_EVENT, after));
    Some(Header { thread, period, event, rest })
}

/// Parses a header without a time stamp, in which the event follows the thread. Tries every space from the left,
/// because names of threads may hold anything.
fn untimed_header(line: &str) -> Option<Header<'_>> {
    let spaces = line.match_indices(' ').map(|(space, _)| space);
    let mut headers = spaces.filter_map(|space| {
        let after = line[space..].trim_start();
        let (period, event, rest) = event_in(after)?;
        Some(Header { thread: thread_of(line[..space].trim_end())?, period, event, rest })
    });
    headers.next()
}

/// Returns the thread's name, which precedes its number and its processor.
fn thread_of(before: &str) -> Option<&str> {
    let before = match before.rsplit_once(' ') {
        Some((rest, cpu)) if cpu.starts_with('[') && cpu.ends_with(']') => rest.trim_end(),
        _ => before,
    };
    let id = last_word(before);
    let is_id = !id.is_empty() && id.split('/').all(is_number);
    let thread = before[..before.len() - id.len()].trim();
    (is_id && !thread.is_empty()).then_some(thread)
}

/// Parses `[period] event: rest`.
fn event_in(text: &str) -> Option<(Option<u64>, &str, &str)> {
    let (first, rest) = word_and_rest(text);
    let (period, (event, rest)) = if is_number(first) {
        (first.parse().ok(), word_and_rest(rest))
    } else {
        (None, (first, rest))
    };
    let event = event.strip_suffix(':').filter(|event| !event.is_empty())?;
    Some((period, event, rest))
}

fn last_word(text: &str) -> &str {
    text.rsplit(char::is_whitespace).next().unwrap_or(text)
}

fn word_and_rest(text: &str) -> (&str, &str) {
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    (&text[..end], text[end..].trim_start())
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_time(word: &str) -> bool {
    word.split_once('.').is_some_and(|(whole, part)| is_number(whole) && is_number(part))
}

/// Parses `address symbol+0x12 (file)`. The offset, the file or the whole symbol may be missing.
pub(super) fn parse_frame(line: &str) -> Option<Frame> {
    let (address, rest) = word_and_rest(line.trim());
    let is_kernel = u64::from_str_radix(address, 16).ok()? >> 63 == 1;
    let (symbol, file) = symbol_and_file(rest.trim_end_matches(" (inlined)"));
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

/// Splits off the file, which stands in the last brackets, with ` (deleted)` after its name if it was deleted. C++
/// symbols have brackets too.
fn symbol_and_file(text: &str) -> (&str, &str) {
    let Some(inner) = text.strip_suffix(')') else { return (text, "") };
    let before = inner.strip_suffix(" (deleted)").unwrap_or(inner);
    // A path may hold brackets. After `[unknown]` the rest is the file.
    if let Some(file) = inner.strip_prefix("[unknown] (") {
        return ("[unknown]", file);
    }
    let path = before.rfind(" (/").or_else(|| before.rfind(" ([")).or_else(|| before.rfind(" ("));
    match path {
        Some(bracket) => (&text[..bracket], &inner[bracket + 2..]),
        None if inner.starts_with('(') => ("", &inner[1..]),
        None => (text, ""),
    }
}

fn without_offset(symbol: &str) -> &str {
    match symbol.rsplit_once("+0x") {
        Some((name, offset)) if offset.bytes().all(|byte| byte.is_ascii_hexdigit()) => name,
        _ => symbol,
    }
}

/// Returns whether this is `/tmp/perf-PID.map`, in which a process lists its generated code.
fn is_map(file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file);
    name.strip_prefix("perf-").and_then(|rest| rest.strip_suffix(".map")).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FrameKind::{self, Kernel, Native};

    #[track_caller]
    fn check_header(line: &str, thread: &str, period: Option<u64>, event: &str) {
        let found = parse_header(line).map(|header| (header.thread, header.period, header.event));
        assert_eq!(found, Some((thread, period, event)), "{line}");
    }

    #[test]
    fn fields_of_a_header_may_be_missing() {
        check_header(
            "1_scheduler 7/8 [001]  1.5:     9 cpu-clock:pppH: ",
            "1_scheduler",
            Some(9),
            "cpu-clock:pppH",
        );
        check_header("x 7 1.5: cycles: ", "x", None, "cycles");
        check_header("x 7 1.5: ", "x", None, "samples");
        check_header("x 7 1.5:", "x", None, "samples");
        check_header("x 7/8 [001] 33 cycles:u: ", "x", Some(33), "cycles:u");
        check_header("x 7     1 cpu_core/cycles/: 7f00 f (a)", "x", Some(1), "cpu_core/cycles/");
        check_header("Web Content 12 7 cycles:", "Web Content", Some(7), "cycles");
        check_header("perf: a b 3 [000] cs:", "perf: a b", None, "cs");
        for text in ["a;b;c 12", "hello", "a 1", "x: 12", "7 8 9"] {
            assert_eq!(parse_header(text), None, "{text}");
        }
    }

    #[track_caller]
    fn check_frame(line: &str, name: &str, kind: FrameKind) {
        assert_eq!(parse_frame(line), Some(Frame { name: name.to_owned(), kind }), "{line}");
    }

    #[test]
    fn a_file_may_have_brackets_and_be_deleted() {
        check_frame("7f [unknown] (/memfd:vmem (deleted))", "[memfd:vmem]", Native);
        check_frame("7f [unknown] (//anon)", "[anon]", Native);
        check_frame("7f f+0x12 (/tmp/x (deleted))", "f", Native);
        check_frame("7f f+0x13 (/tmp/x (deleted))", "f", Native);
        check_frame("7f [unknown] (/opt/a (b)/lib.so)", "[lib.so]", Native);
        check_frame("7f f+0x1 (/opt/a (b)/lib.so)", "f", Native);
        check_frame(
            "7f operator new(unsigned long)+0x1 (/lib/a.so)",
            "operator new(unsigned long)",
            Native,
        );
        check_frame("7f f+0x1 (inlined)", "f", Native);
        check_frame("7f (/lib/a.so)", "[a.so]", Native);
        check_frame("7f f", "f", Native);
        check_frame("ffffffff81000000 do_it+0x1 ([kernel.kallsyms])", "do_it", Kernel);
        check_frame("7f clock+0x1 ([vdso])", "clock", Native);
    }
}
