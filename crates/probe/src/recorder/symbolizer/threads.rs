//! Names and kinds of the node's threads.

use std::sync::Arc;

use rabbitscope_profiles::ThreadKind;
use rustc_hash::FxHashMap;

use crate::node::Process;

/// The threads seen so far, by their ids in the node's pid namespace.
#[derive(Debug, Default)]
pub(super) struct ThreadNames(FxHashMap<u32, (Arc<str>, ThreadKind)>);

impl ThreadNames {
    /// The kind of a thread. Reads the list of threads if the id is unknown.
    pub(super) fn kind(&mut self, tid: u32, process: &Process) -> ThreadKind {
        if let Some(&(_, kind)) = self.0.get(&tid) {
            return kind;
        }
        for thread in process.threads().unwrap_or_default() {
            let kind = ThreadKind::from_name(&thread.name).0;
            self.0.insert(thread.tid, (thread.name.into(), kind));
        }
        self.0.entry(tid).or_insert_with(|| (Arc::default(), ThreadKind::Other)).1
    }

    /// The name of a thread; empty if it is unknown.
    pub(super) fn name(&self, tid: u32) -> Arc<str> {
        self.0.get(&tid).map_or_else(Arc::default, |(name, _)| Arc::clone(name))
    }
}
