//! Mappings of each process, and names of threads.

use std::{collections::BTreeMap, rc::Rc};

use hashbrown::{HashMap, HashSet};

use super::files::RecordedFile;

/// Limit of the mappings of all processes. Each takes some hundred bytes.
const MAX_MAPPINGS: usize = 1 << 21;

/// Limit of the threads of all processes.
const MAX_THREADS: usize = 1 << 22;

/// Size limit of all distinct paths and thread names.
const MAX_TEXT_BYTES: usize = 64 << 20;

/// A file in a process's memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mapped {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) file_offset: u64,
    pub(super) file: Rc<RecordedFile>,
}

/// Mappings of a process by start address; they never overlap.
type Space = BTreeMap<u64, Mapped>;

/// Address spaces and thread names of a recording.
#[derive(Debug, Default)]
pub(super) struct AddressSpaces {
    /// Address spaces by pid. A process shares its parent's until either of them maps something.
    mapped: HashMap<u32, Rc<Space>>,
    /// Number of stored mappings; a shared one counts once.
    held: usize,
    names: HashMap<u32, u32>,
    /// Distinct names of threads.
    texts: Vec<String>,
    index: HashMap<String, u32>,
    /// Distinct files that were ever mapped.
    files: HashSet<Rc<RecordedFile>>,
    /// Total size of these files' paths and of the names.
    text_bytes: usize,
}

impl AddressSpaces {
    /// Returns whether `mapping` covers another one, so that the addresses seen until now must be named first.
    pub(super) fn replaces(&self, pid: u32, mapping: &Mapped) -> bool {
        let below = self.mapped.get(&pid).map(|space| space.range(..mapping.end));
        below.is_some_and(|mut below| {
            below.next_back().is_some_and(|(_, last)| last.end > mapping.start && last != mapping)
        })
    }

    /// Adds a mapping, which replaces the covered parts of older ones.
    pub(super) fn map(&mut self, pid: u32, mut mapping: Mapped) {
        mapping.file = self.file(mapping.file);
        let space = self.mapped.entry(pid).or_default();
        if Rc::get_mut(space).is_none() {
            self.held += space.len();
        }
        let space = Rc::make_mut(space);
        let before = space.len();
        let covered: Vec<u64> = space
            .range(..mapping.end)
            .rev()
            .take_while(|(_, old)| old.end > mapping.start)
            .map(|(&start, _)| start)
            .collect();
        for start in covered {
            let Some(old) = space.remove(&start) else { continue };
            // The parts beside the new mapping stay.
            if old.end > mapping.end {
                let skipped = mapping.end - old.start;
                let file_offset = old.file_offset.wrapping_add(skipped);
                let rest = Mapped { start: mapping.end, file_offset, ..old.clone() };
                space.insert(rest.start, rest);
            }
            if old.start < mapping.start {
                space.insert(old.start, Mapped { end: mapping.start, ..old });
            }
        }
        space.insert(mapping.start, mapping);
        self.held = self.held - before + space.len();
    }

    fn file(&mut self, file: Rc<RecordedFile>) -> Rc<RecordedFile> {
        if let Some(known) = self.files.get(&file) {
            return Rc::clone(known);
        }
        self.text_bytes += file.path.len();
        self.files.insert(Rc::clone(&file));
        file
    }

    /// Returns whether mappings, which forks multiply, or threads exceed those of any real recording.
    pub(super) fn are_too_many(&self) -> bool {
        self.held > MAX_MAPPINGS
            || self.names.len() > MAX_THREADS
            || self.text_bytes > MAX_TEXT_BYTES
    }

    /// Gives a new process its parent's mappings.
    pub(super) fn fork(&mut self, parent: u32, child: u32) {
        if parent != child
            && let Some(space) = self.mapped.get(&parent).map(Rc::clone)
        {
            self.forget(child);
            self.mapped.insert(child, space);
        }
    }

    /// Drops the mappings of a process that executes another program.
    pub(super) fn exec(&mut self, pid: u32) {
        self.forget(pid);
    }

    fn forget(&mut self, pid: u32) {
        if let Some(space) = self.mapped.remove(&pid).and_then(Rc::into_inner) {
            self.held -= space.len();
        }
    }

    /// Returns the mapping that contains `address`.
    pub(super) fn at(&self, pid: u32, address: u64) -> Option<&Mapped> {
        let (_, mapping) = self.mapped.get(&pid)?.range(..=address).next_back()?;
        (address < mapping.end).then_some(mapping)
    }

    /// Names a thread from now on.
    pub(super) fn call(&mut self, tid: u32, name: String) {
        let id = self.name_id(name);
        self.names.insert(tid, id);
    }

    /// Gives a new thread its creator's name.
    pub(super) fn inherit_name(&mut self, parent: u32, child: u32) {
        if let Some(&name) = self.names.get(&parent) {
            self.names.insert(child, name);
        }
    }

    /// Returns the number of a thread's current name.
    pub(super) fn name_of(&mut self, tid: u32) -> u32 {
        match self.names.get(&tid) {
            Some(&name) => name,
            None => self.name_id(format!("thread {tid}")),
        }
    }

    /// Returns the name with this number.
    pub(super) fn text(&self, name: u32) -> &str {
        self.texts.get(name as usize).map_or("", String::as_str)
    }

    fn name_id(&mut self, name: String) -> u32 {
        if let Some(&id) = self.index.get(&name) {
            return id;
        }
        let id = u32::try_from(self.texts.len()).expect("fewer than 2^32 names");
        self.text_bytes += name.len();
        self.texts.push(name.clone());
        self.index.insert(name, id);
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_mapping_does_not_cover_stays() {
        let mut spaces = AddressSpaces::default();
        let part = |start, end, file_offset| Mapped { start, end, file_offset, ..mapped(0) };
        spaces.map(1, part(100, 200, 7));
        spaces.map(1, part(120, 150, 0));
        let found = |address| {
            spaces.at(1, address).map(|mapping| (mapping.start, mapping.end, mapping.file_offset))
        };
        assert_eq!(found(119), Some((100, 120, 7)));
        assert_eq!(found(120), Some((120, 150, 0)));
        assert_eq!(found(150), Some((150, 200, 57)));
        assert_eq!(found(200), None);
    }

    fn mapped(start: u64) -> Mapped {
        let file = RecordedFile { path: "/bin/x".into(), ..RecordedFile::default() };
        Mapped { start, end: start + 1, file_offset: 0, file: file.into() }
    }

    #[test]
    fn a_fork_shares_until_something_is_mapped() {
        let mut spaces = AddressSpaces::default();
        let mut check = |step: &dyn Fn(&mut AddressSpaces), expected: usize| {
            step(&mut spaces);
            assert_eq!(spaces.held, expected);
        };
        check(&|spaces| (0..10).for_each(|start| spaces.map(1, mapped(start))), 10);
        check(&|spaces| (2..1000).for_each(|child| spaces.fork(1, child)), 10);
        check(&|spaces| spaces.map(2, mapped(10)), 21);
        check(&|spaces| spaces.map(2, mapped(10)), 21);
        check(&|spaces| spaces.fork(1, 2), 10);
        check(&|spaces| (2..1000).for_each(|child| spaces.exec(child)), 10);
        check(&|spaces| spaces.exec(1), 0);
    }
}
