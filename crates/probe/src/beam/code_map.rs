//! Names of JIT code by address, kept up to date while the node loads modules.

use std::{
    collections::{BTreeMap, HashSet},
    ops::Range as Span,
    thread::sleep,
    time::Duration,
};

use super::{
    jit::{self, Blob, Entry, JitError},
    texts::{TextId, Texts},
};
use crate::{error::ProbeError, node::ReadMemory};

/// Prefix of the names of fragments: code that functions share.
pub(super) const FRAGMENT_PREFIX: &str = "global::";

/// Attempts to read a table that the VM changes meanwhile.
const READ_ATTEMPTS: u32 = 5;

/// Pause between two attempts: about the time in which the VM loads a module.
const RETRY_INTERVAL: Duration = Duration::from_millis(5);

/// The frame layout of Erlang stacks with frame pointers beside the return addresses.
const FRAME_POINTER_LAYOUT: i32 = 1;

/// All machine code that the VM generated.
#[derive(Debug, Default)]
pub(crate) struct CodeMap {
    /// By start address; ranges never overlap, a newer one cuts away what it covers.
    ranges: BTreeMap<u64, Code>,
    names: Texts,
    files: Texts,
    line_tables: Vec<Lines>,
    known: HashSet<Entry>,
    /// Whether lines of source are left out.
    is_without_lines: bool,
    first_entry: u64,
    normal_exit: u64,
    has_frame_pointers: bool,
}

/// A range of code; the key of the map is its start.
#[derive(Clone, Copy, Debug)]
struct Code {
    end: u64,
    name: TextId,
    lines: LinesId,
}

/// First addresses of lines, in order.
type Lines = Box<[(u64, SourceLine)]>;

/// Index of a table of lines: most ranges have none.
type LinesId = u32;

const NO_LINES: LinesId = LinesId::MAX;

/// A line of source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SourceLine {
    /// See [`CodeMap::file`].
    pub(crate) file: TextId,
    /// Counted from 1.
    pub(crate) number: u32,
}

impl CodeMap {
    /// Reads the whole table of a node.
    pub(crate) fn read(
        memory: &impl ReadMemory,
        descriptor: u64,
        pid: u32,
    ) -> Result<Self, ProbeError> {
        let mut map = Self::default();
        map.refresh(memory, descriptor).map_err(|error| jit_error(pid, &error))?;
        if map.normal_exit == 0 {
            return Err(jit_error(pid, &JitError::NoEmulator));
        }
        Ok(map)
    }

    /// Reads new entries. Returns whether there were any; after an error the old state stays in use.
    pub(crate) fn refresh(
        &mut self,
        memory: &impl ReadMemory,
        descriptor: u64,
    ) -> Result<bool, JitError> {
        let mut attempt = 1;
        loop {
            match self.try_refresh(memory, descriptor) {
                Err(_) if attempt < READ_ATTEMPTS => sleep(RETRY_INTERVAL),
                result => return result,
            }
            attempt += 1;
        }
    }

    fn try_refresh(&mut self, memory: &impl ReadMemory, descriptor: u64) -> Result<bool, JitError> {
        let first = jit::first_entry(memory, descriptor)?;
        if first == self.first_entry {
            return Ok(false);
        }
        let entries = jit::entries(memory, first)?;
        let mut fresh = Vec::new();
        for entry in entries.iter().filter(|entry| !self.known.contains(entry)) {
            fresh.push(jit::read_blob(memory, entry)?);
        }
        // Oldest first, so that a newer range replaces an older one at the same address.
        for blob in fresh.into_iter().rev() {
            self.add(blob);
        }
        self.known = entries.into_iter().collect();
        self.first_entry = first;
        if self.is_without_lines {
            self.names.shrink();
        }
        Ok(true)
    }

    /// Leaves out lines of source, which take a third of the memory, from now on.
    pub(crate) fn leave_out_lines(&mut self) {
        self.is_without_lines = true;
        // Made anew, because a map that grew by insertions is half empty.
        let ranges = std::mem::take(&mut self.ranges).into_iter();
        let without = |code| Code { lines: NO_LINES, ..code };
        self.ranges = ranges.map(|(start, code)| (start, without(code))).collect();
        self.line_tables = Vec::new();
        self.files = Texts::default();
        self.names.shrink();
    }

    fn add(&mut self, blob: Blob) {
        match blob {
            Blob::Emulator { normal_exit, frame_layout } => {
                self.normal_exit = normal_exit;
                self.has_frame_pointers = frame_layout == FRAME_POINTER_LAYOUT;
            }
            Blob::Module { ranges, files } => {
                let files: Vec<TextId> = if self.is_without_lines {
                    Vec::new()
                } else {
                    files.iter().map(|file| self.files.id(file)).collect()
                };
                let mut after: Option<Code> = None;
                for range in ranges.into_iter().rev().filter(|range| range.start < range.end) {
                    let name = self.names.id(&range.name);
                    let mut lines = self.add_lines(&range, &files);
                    // The line of a function's head belongs to the header before its code.
                    if let Some(code) = after.filter(|it| it.name == name && lines == NO_LINES) {
                        lines = code.lines;
                    }
                    let code = Code { end: range.end, name, lines };
                    self.insert(range.start, code);
                    after = Some(code);
                }
            }
        }
    }

    fn add_lines(&mut self, range: &jit::Range, files: &[TextId]) -> LinesId {
        if files.is_empty() || range.lines.is_empty() {
            return NO_LINES;
        }
        self.line_tables.push(lines_of(range, files));
        LinesId::try_from(self.line_tables.len() - 1).expect("fewer than 2^32 functions")
    }

    fn insert(&mut self, start: u64, code: Code) {
        self.clear(start..code.end);
        self.ranges.insert(start, code);
    }

    /// Cuts `span` out of all older ranges.
    fn clear(&mut self, span: Span<u64>) {
        let before = self.ranges.range_mut(..span.start).next_back();
        if let Some((_, code)) = before
            && code.end > span.start
        {
            let whole = *code;
            code.end = span.start;
            if whole.end > span.end {
                self.ranges.insert(span.end, whole);
            }
        }
        let inside: Vec<u64> = self.ranges.range(span.clone()).map(|(&start, _)| start).collect();
        for start in inside {
            let code = self.ranges.remove(&start).expect("it was found a moment ago");
            if code.end > span.end {
                self.ranges.insert(span.end, code);
            }
        }
    }

    fn code_at(&self, address: u64) -> Option<&Code> {
        let (_, code) = self.ranges.range(..=address).next_back()?;
        (address < code.end).then_some(code)
    }

    /// The function that holds `address`.
    pub(crate) fn name_at(&self, address: u64) -> Option<&str> {
        self.code_at(address).map(|code| self.names.get(code.name))
    }

    /// The source line of `address`. For a call, pass the address of the call instruction, not the return
    /// address.
    pub(crate) fn line_at(&self, address: u64) -> Option<SourceLine> {
        let lines = self.line_tables.get(self.code_at(address)?.lines as usize)?;
        let after = lines.partition_point(|&(start, _)| start <= address);
        after.checked_sub(1).map(|at| lines[at].1)
    }

    /// The name of a source file, as it was passed to the compiler.
    pub(crate) fn file(&self, id: TextId) -> &str {
        self.files.get(id)
    }

    /// Whether `address` is in code that functions share.
    pub(crate) fn is_fragment(&self, address: u64) -> bool {
        self.name_at(address).is_some_and(|name| name.starts_with(FRAGMENT_PREFIX))
    }

    /// The code of the function or fragment called `name`.
    pub(crate) fn span_of(&self, name: &str) -> Option<Span<u64>> {
        let id = self.names.find(name)?;
        let (&start, code) = self.ranges.iter().find(|(_, code)| code.name == id)?;
        Some(start..code.end)
    }

    /// Functions that have a header: start of the header, start of the code after it, id of the name.
    pub(crate) fn headers(&self) -> impl Iterator<Item = (u64, u64, TextId)> {
        let pairs = self.ranges.iter().zip(self.ranges.iter().skip(1));
        pairs.filter_map(|((&header, code), (&start, next))| {
            let is_header = code.end == start && code.name == next.name;
            is_header.then_some((header, start, code.name))
        })
    }

    /// A name by its id, which it keeps.
    pub(crate) fn name(&self, id: TextId) -> &str {
        self.names.get(id)
    }

    /// Ids of names are below it.
    pub(crate) fn name_count(&self) -> usize {
        self.names.len()
    }

    /// Number of ranges.
    pub(crate) fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Whether any code lies in `span`.
    pub(crate) fn has_code_in(&self, span: Span<u64>) -> bool {
        self.ranges.range(span).next().is_some()
    }

    /// Whether JIT code keeps frame pointers (`+JPperf true`).
    pub(crate) fn has_frame_pointers(&self) -> bool {
        self.has_frame_pointers
    }

    /// The return address at the bottom of every process's stack.
    pub(crate) fn normal_exit(&self) -> u64 {
        self.normal_exit
    }
}

/// `files` are the module's files in the order of its blob.
fn lines_of(range: &jit::Range, files: &[TextId]) -> Lines {
    let line = |line: &jit::Line| {
        let file = files[line.file as usize];
        (line.start, SourceLine { file, number: line.number })
    };
    range.lines.iter().map(line).collect()
}

fn jit_error(pid: u32, error: &JitError) -> ProbeError {
    ProbeError::JitTable { pid, detail: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::CodeMap;
    use crate::beam::jit::{Blob, Line, Range};

    impl CodeMap {
        /// Of start, end and name of functions, the oldest first.
        pub(crate) fn of_ranges(ranges: impl Iterator<Item = (u64, u64, String)>) -> Self {
            let mut map = Self::default();
            for (start, end, name) in ranges {
                let range = Range { start, end, name, lines: Vec::new() };
                map.add(Blob::Module { ranges: vec![range], files: Vec::new() });
            }
            map
        }
    }

    fn map(ranges: &[(u64, u64, &str)]) -> CodeMap {
        CodeMap::of_ranges(ranges.iter().map(|&(start, end, name)| (start, end, name.to_owned())))
    }

    fn check(ranges: &[(u64, u64, &str)], expected: &[(u64, Option<&str>)]) {
        let map = map(ranges);
        for &(address, name) in expected {
            assert_eq!(map.name_at(address), name, "at {address}");
        }
    }

    #[test]
    fn an_end_is_outside() {
        check(
            &[(10, 20, "a"), (20, 30, "b")],
            &[(9, None), (10, Some("a")), (19, Some("a")), (20, Some("b")), (30, None)],
        );
    }

    #[test]
    fn a_header_stands_right_before_its_code() {
        let map = map(&[(10, 20, "a"), (20, 30, "a"), (30, 40, "b"), (50, 60, "b")]);
        let headers = map.headers().map(|(header, start, id)| (header, start, map.name(id)));
        assert_eq!(headers.collect::<Vec<_>>(), [(10, 20, "a")]);
        assert_eq!(map.span_of("b"), Some(30..40));
        assert_eq!(map.span_of("c"), None);
    }

    #[test]
    fn the_newer_of_two_wins() {
        check(&[(10, 20, "old"), (10, 20, "new")], &[(15, Some("new"))]);
    }

    #[test]
    fn a_newer_range_cuts_older_ones() {
        check(
            &[(10, 50, "old"), (20, 30, "new")],
            &[(15, Some("old")), (25, Some("new")), (35, Some("old")), (50, None)],
        );
        check(
            &[(10, 20, "a"), (20, 30, "b"), (15, 25, "new")],
            &[(14, Some("a")), (15, Some("new")), (24, Some("new")), (25, Some("b"))],
        );
    }

    #[test]
    fn a_line_goes_on_until_the_next_one() {
        let line = |start, number, file| Line { start, file, number };
        let range = |start, end, lines: &[Line]| Range {
            start,
            end,
            name: format!("m:f{start}/0"),
            lines: lines.to_vec(),
        };
        let mut map = CodeMap::default();
        let header = Range { name: "m:f20/0".into(), ..range(12, 20, &[]) };
        map.add(Blob::Module {
            ranges: vec![
                header,
                range(20, 50, &[line(10, 7, 0), line(30, 9, 1), line(49, 70, 0)]),
                range(50, 60, &[]),
            ],
            files: vec!["a.erl".into(), "b.hrl".into()],
        });
        let at = |map: &CodeMap, address| {
            map.line_at(address).map(|line| format!("{}:{}", map.file(line.file), line.number))
        };
        for (address, expected) in [
            (11, None),
            (12, Some("a.erl:7")),
            (20, Some("a.erl:7")),
            (29, Some("a.erl:7")),
            (48, Some("b.hrl:9")),
        ] {
            assert_eq!(at(&map, address).as_deref(), expected, "at {address}");
        }
        assert_eq!(at(&map, 55), None);
        // What a newer module leaves of an older one keeps its lines.
        map.add(Blob::Module { ranges: vec![range(25, 35, &[])], files: Vec::new() });
        assert_eq!(at(&map, 30), None);
        assert_eq!(at(&map, 40).as_deref(), Some("b.hrl:9"));
    }
}
