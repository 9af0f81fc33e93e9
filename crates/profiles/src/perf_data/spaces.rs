//! What was mapped where in each process, and what its threads were called.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    rc::Rc,
};

use super::files::RecordedFile;

/// Mappings of all processes together that are held. Each takes some hundred bytes.
const MAX_MAPPINGS: usize = 1 << 21;

/// Threads of all processes together.
const MAX_THREADS: usize = 1 << 22;

/// Bytes of all distinct paths and names of threads together.
const MAX_TEXT_BYTES: usize = 64 << 20;

/// A file in the memory of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mapped {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) file_offset: u64,
    pub(super) file: Rc<RecordedFile>,
}

/// What a process has mapped, by start address; mappings never overlap.
type Space = BTreeMap<u64, Mapped>;

/// All processes of a recording.
#[derive(Debug, Default)]
pub(super) struct AddressSpaces {
    /// By pid. A process shares its parent's until either of them maps something.
    mapped: HashMap<u32, Rc<Space>>,
    /// Mappings that are held, shared ones once.
    held: usize,
    names: HashMap<u32, u32>,
    /// Names of threads, each once.
    texts: Vec<String>,
    index: HashMap<String, u32>,
    /// Files that were mapped at some time, each once.
    files: HashSet<Rc<RecordedFile>>,
    /// Of those and of the names.
    text_bytes: usize,
}

impl AddressSpaces {
    /// True when `mapping` covers what something else was mapped to before, so that addresses that
    /// were seen until now must be named first.
    pub(super) fn replaces(&self, pid: u32, mapping: &Mapped) -> bool {
        let below = self.mapped.get(&pid).map(|space| space.range(..mapping.end));
        below.is_some_and(|mut below| {
            below.next_back().is_some_and(|(_, last)| last.end > mapping.start && last != mapping)
        })
    }

    /// Remembers a mapping; what it covers of others is forgotten.
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
            // What is beside the new mapping stays.
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

    /// True when no real recording has as many mappings, which forks multiply, or threads.
    pub(super) fn are_too_many(&self) -> bool {
        self.held > MAX_MAPPINGS
            || self.names.len() > MAX_THREADS
            || self.text_bytes > MAX_TEXT_BYTES
    }

    /// A new process has what its parent has.
    pub(super) fn fork(&mut self, parent: u32, child: u32) {
        if parent != child
            && let Some(space) = self.mapped.get(&parent).map(Rc::clone)
        {
            self.forget(child);
            self.mapped.insert(child, space);
        }
    }

    /// A process begins another program.
    pub(super) fn exec(&mut self, pid: u32) {
        self.forget(pid);
    }

    fn forget(&mut self, pid: u32) {
        if let Some(space) = self.mapped.remove(&pid).and_then(Rc::into_inner) {
            self.held -= space.len();
        }
    }

    /// The mapping that holds `address`.
    pub(super) fn at(&self, pid: u32, address: u64) -> Option<&Mapped> {
        let (_, mapping) = self.mapped.get(&pid)?.range(..=address).next_back()?;
        (address < mapping.end).then_some(mapping)
    }

    /// A thread has this name from now on.
    pub(super) fn call(&mut self, tid: u32, name: String) {
        let id = self.name_id(name);
        self.names.insert(tid, id);
    }

    /// A thread begins with the name of the thread that made it.
    pub(super) fn inherit_name(&mut self, parent: u32, child: u32) {
        if let Some(&name) = self.names.get(&parent) {
            self.names.insert(child, name);
        }
    }

    /// The number of the name that a thread has now.
    pub(super) fn name_of(&mut self, tid: u32) -> u32 {
        match self.names.get(&tid) {
            Some(&name) => name,
            None => self.name_id(format!("thread {tid}")),
        }
    }

    /// The name of this number.
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
        let at = |address| spaces.at(1, address).map(|it| (it.start, it.end, it.file_offset));
        assert_eq!(at(119), Some((100, 120, 7)));
        assert_eq!(at(120), Some((120, 150, 0)));
        assert_eq!(at(150), Some((150, 200, 57)));
        assert_eq!(at(200), None);
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
        check(&|it| (0..10).for_each(|start| it.map(1, mapped(start))), 10);
        check(&|it| (2..1000).for_each(|child| it.fork(1, child)), 10);
        check(&|it| it.map(2, mapped(10)), 21);
        check(&|it| it.map(2, mapped(10)), 21);
        check(&|it| it.fork(1, 2), 10);
        check(&|it| (2..1000).for_each(|child| it.exec(child)), 10);
        check(&|it| it.exec(1), 0);
    }
}
