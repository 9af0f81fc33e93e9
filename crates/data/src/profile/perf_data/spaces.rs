//! What was mapped where in each process, and what its threads were called.

use std::collections::{BTreeMap, HashMap};

/// A file in the memory of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mapped {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) file_offset: u64,
    pub(super) path: String,
}

/// All processes of a recording.
#[derive(Debug, Default)]
pub(super) struct Spaces {
    /// By pid, by start address; mappings of a process never overlap.
    mapped: HashMap<u32, BTreeMap<u64, Mapped>>,
    names: HashMap<u32, u32>,
    /// Names of threads, each once.
    texts: Vec<String>,
    index: HashMap<String, u32>,
}

impl Spaces {
    /// True when `mapping` covers what something else was mapped to before, so that addresses that
    /// were seen until now must be named first.
    pub(super) fn replaces(&self, pid: u32, mapping: &Mapped) -> bool {
        let below = self.mapped.get(&pid).map(|space| space.range(..mapping.end));
        below.is_some_and(|mut below| {
            below.next_back().is_some_and(|(_, last)| last.end > mapping.start && last != mapping)
        })
    }

    /// Remembers a mapping; what it covers is forgotten.
    pub(super) fn map(&mut self, pid: u32, mapping: Mapped) {
        let space = self.mapped.entry(pid).or_default();
        let covered: Vec<u64> = space
            .range(..mapping.end)
            .rev()
            .take_while(|(_, old)| old.end > mapping.start)
            .map(|(&start, _)| start)
            .collect();
        for start in covered {
            space.remove(&start);
        }
        space.insert(mapping.start, mapping);
    }

    /// A new process has what its parent has.
    pub(super) fn fork(&mut self, parent: u32, child: u32) {
        if parent != child
            && let Some(space) = self.mapped.get(&parent).cloned()
        {
            self.mapped.insert(child, space);
        }
    }

    /// A process begins another program.
    pub(super) fn exec(&mut self, pid: u32) {
        self.mapped.remove(&pid);
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
        self.texts.push(name.clone());
        self.index.insert(name, id);
        id
    }
}
