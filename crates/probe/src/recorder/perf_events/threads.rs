//! The threads of the node, by the ids in perf records.

use std::collections::HashMap;

use rabbitscope_profiles::ThreadKind;

use crate::{
    beam::{Emulator, SchedulerBlock},
    node::{Process, ReadMemory},
};

/// A thread of the node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Thread {
    /// Id in the node's own pid namespace.
    pub(super) tid: u32,
    /// Kind of the thread, from its name.
    pub(super) kind: ThreadKind,
    /// Stack pointer with which JIT code calls C, on a thread that runs JIT code.
    pub(super) jit_stack: Option<u64>,
}

/// The threads seen so far, by their ids in this process's pid namespace.
pub(super) struct Threads {
    known: HashMap<u32, Thread>,
    /// Stack pointers for calls of C, by thread id in the node's namespace.
    jit_stacks: HashMap<u32, u64>,
}

impl Threads {
    pub(super) fn new(
        process: &Process,
        emulator: &Emulator,
        schedulers: &[SchedulerBlock],
    ) -> Self {
        let normal = schedulers.iter().filter(|block| block.kind == ThreadKind::Scheduler);
        let stacks = normal.filter_map(|block| {
            let pointer = block.data + u64::from(emulator.layout.registers);
            Some((block.tid, process.word(pointer).ok()?))
        });
        Self { known: HashMap::new(), jit_stacks: stacks.collect() }
    }

    /// The thread with an id in this process's pid namespace. Reads the list of threads if the id is unknown.
    pub(super) fn find(&mut self, outside: u32, process: &Process) -> Thread {
        if !self.known.contains_key(&outside) {
            for thread in process.threads().unwrap_or_default() {
                let kind = ThreadKind::from_name(&thread.name).0;
                let jit_stack = self.jit_stacks.get(&thread.tid).copied();
                self.known.insert(thread.outside, Thread { tid: thread.tid, kind, jit_stack });
            }
        }
        let gone = Thread { tid: outside, kind: ThreadKind::Other, jit_stack: None };
        *self.known.entry(outside).or_insert(gone)
    }
}
