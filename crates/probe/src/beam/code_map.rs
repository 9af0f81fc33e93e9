//! From addresses of JIT code to names, kept up to date while the node loads modules.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    ops::Range as Span,
    thread::sleep,
    time::Duration,
};

use super::jit::{self, Blob, Entry, JitError};
use crate::{error::ProbeError, node::ReadMemory};

/// Beginning of the names of code that functions share.
pub(super) const FRAGMENT: &str = "global::";

/// How often a table that changes under the reader is read again.
const ATTEMPTS: u32 = 5;

/// Pause before reading again; loading a module takes about as long.
const PAUSE: Duration = Duration::from_millis(5);

/// All machine code that the VM generated.
#[derive(Debug, Default)]
pub(crate) struct CodeMap {
    /// By start address; ranges never overlap, a newer one cuts away what it covers.
    ranges: BTreeMap<u64, (u64, NameId)>,
    names: Vec<String>,
    name_ids: HashMap<String, NameId>,
    known: HashSet<Entry>,
    first_entry: u64,
    normal_exit: u64,
}

type NameId = u32;

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

    /// Reads what is new. Returns whether anything was; on failure the old state stays in use.
    pub(crate) fn refresh(
        &mut self,
        memory: &impl ReadMemory,
        descriptor: u64,
    ) -> Result<bool, JitError> {
        let mut attempt = 1;
        loop {
            match self.try_refresh(memory, descriptor) {
                Err(_) if attempt < ATTEMPTS => sleep(PAUSE),
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
        // Oldest first, so that of two ranges at one address the newer one stays.
        for blob in fresh.into_iter().rev() {
            self.add(blob);
        }
        self.known = entries.into_iter().collect();
        self.first_entry = first;
        Ok(true)
    }

    fn add(&mut self, blob: Blob) {
        match blob {
            Blob::Emulator { normal_exit, .. } => self.normal_exit = normal_exit,
            Blob::Module { ranges } => {
                for range in ranges.into_iter().filter(|range| range.start < range.end) {
                    self.insert(range);
                }
            }
        }
    }

    fn insert(&mut self, range: jit::Range) {
        let name = self.name_id(range.name);
        self.clear(range.start..range.end);
        self.ranges.insert(range.start, (range.end, name));
    }

    /// Cuts `span` out of all older ranges.
    fn clear(&mut self, span: Span<u64>) {
        let before = self.ranges.range(..span.start).next_back().map(|(&s, &(e, n))| (s, e, n));
        if let Some((start, end, name)) = before
            && end > span.start
        {
            self.ranges.insert(start, (span.start, name));
            if end > span.end {
                self.ranges.insert(span.end, (end, name));
            }
        }
        let inside: Vec<(u64, u64, NameId)> =
            self.ranges.range(span.clone()).map(|(&s, &(e, n))| (s, e, n)).collect();
        for (start, end, name) in inside {
            self.ranges.remove(&start);
            if end > span.end {
                self.ranges.insert(span.end, (end, name));
            }
        }
    }

    fn name_id(&mut self, name: String) -> NameId {
        if let Some(&id) = self.name_ids.get(&name) {
            return id;
        }
        let id = NameId::try_from(self.names.len()).expect("fewer than 2^32 functions");
        self.names.push(name.clone());
        self.name_ids.insert(name, id);
        id
    }

    /// The function that holds `address`.
    pub(crate) fn name_at(&self, address: u64) -> Option<&str> {
        let (_, &(end, name)) = self.ranges.range(..=address).next_back()?;
        (address < end).then(|| self.names[name as usize].as_str())
    }

    /// Whether `address` is in code that functions share.
    pub(crate) fn is_fragment(&self, address: u64) -> bool {
        self.name_at(address).is_some_and(|name| name.starts_with(FRAGMENT))
    }

    /// The code of the function or fragment called `name`.
    pub(crate) fn span_of(&self, name: &str) -> Option<Span<u64>> {
        let &id = self.name_ids.get(name)?;
        let (&start, &(end, _)) = self.ranges.iter().find(|&(_, &(_, its))| its == id)?;
        Some(start..end)
    }

    /// Functions that have a header: where it begins, where the code after it begins, the name.
    pub(crate) fn headers(&self) -> impl Iterator<Item = (u64, u64, &str)> {
        let pairs = self.ranges.iter().zip(self.ranges.iter().skip(1));
        pairs.filter_map(|((&header, &(end, name)), (&start, &(_, next)))| {
            let is_header = end == start && name == next;
            is_header.then(|| (header, start, self.names[name as usize].as_str()))
        })
    }

    /// Number of places that have a name.
    pub(crate) fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Whether any code lies in `span`.
    pub(crate) fn has_code_in(&self, span: Span<u64>) -> bool {
        self.ranges.range(span).next().is_some()
    }

    /// The return address at the bottom of every process's stack.
    pub(crate) fn normal_exit(&self) -> u64 {
        self.normal_exit
    }
}

fn jit_error(pid: u32, error: &JitError) -> ProbeError {
    ProbeError::JitTable { pid, detail: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::CodeMap;
    use crate::beam::jit::Range;

    fn map(ranges: &[(u64, u64, &str)]) -> CodeMap {
        let mut map = CodeMap::default();
        for &(start, end, name) in ranges {
            map.insert(Range { start, end, name: name.into() });
        }
        map
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
        assert_eq!(map.headers().collect::<Vec<_>>(), [(10, 20, "a")]);
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
}
