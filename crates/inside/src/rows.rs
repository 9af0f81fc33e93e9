//! Rows of queues, put together from what the node's agent sends: `agent/rabbitscope_queues.erl` says
//! in which form. What is not here: asking for it.

use std::sync::Arc;

use rabbitscope_erlang::Term;
use rustc_hash::FxHashMap;

use super::{Missing, QueueRow};

/// So many words are looked through before another is made.
const MOST_WORDS: usize = 16;

/// Virtual host and name, as [`join`] joins them.
pub(super) type Key = Box<[u8]>;

/// Queues from one look to the next.
#[derive(Debug, Default)]
pub(super) struct Remembered {
    queues: FxHashMap<Key, Queue>,
    /// Counted, so that a queue that a look has not found is told from one that it has.
    look: u64,
}

#[derive(Debug)]
struct Queue {
    name: Arc<str>,
    /// The last look that has found it.
    look: u64,
    /// Its row in that look.
    row: usize,
    /// What it wrote the last time, if it is one of those that tell when they write.
    written: Option<Written>,
}

/// What a classic queue writes beside its depth.
#[derive(Debug)]
struct Written {
    /// Work that the queue had done until then.
    reductions: u64,
    infos: Infos,
}

#[derive(Debug, Default)]
struct Infos {
    state: Option<Arc<str>>,
    consumers: Option<u64>,
    memory_bytes: Option<u64>,
}

/// Rows of a look, as they come.
#[derive(Debug, Default)]
pub(super) struct Rows {
    remembered: Remembered,
    all: Vec<QueueRow>,
    /// For each row.
    reductions: Vec<Option<u64>>,
    /// The key that is looked for.
    scratch: Vec<u8>,
    words: Words,
}

/// Words that most rows have in common: virtual hosts, types, nodes, states.
#[derive(Debug, Default)]
struct Words(Vec<Arc<str>>);

impl Words {
    fn share(&mut self, word: &str) -> Arc<str> {
        if let Some(known) = self.0.iter().find(|known| ***known == *word) {
            return Arc::clone(known);
        }
        let word = Arc::from(word);
        if self.0.len() < MOST_WORDS {
            self.0.push(Arc::clone(&word));
        }
        word
    }
}

impl Rows {
    /// A look after another.
    pub(super) fn after(remembered: Remembered) -> Self {
        let found = remembered.queues.len();
        Self {
            remembered: Remembered { look: remembered.look + 1, ..remembered },
            all: Vec::with_capacity(found),
            reductions: Vec::with_capacity(found),
            scratch: Vec::new(),
            words: Words::default(),
        }
    }

    /// Takes in a part; `None` if it is none.
    pub(super) fn take(&mut self, part: &Term) -> Option<()> {
        let [what, found] = part.as_tuple()? else { return None };
        let found = found.as_list()?.iter();
        match what.as_atom()? {
            "names" => found.map(|row| self.name(row)).collect(),
            "dead" => found.map(|row| self.dead(row)).collect(),
            "rows" => found.map(|row| self.row(row)).collect(),
            "depths" => found.map(|row| self.depth(row)).collect(),
            "infos" => found.map(|row| self.infos(row)).collect(),
            _ => None,
        }
    }

    fn name(&mut self, row: &Term) -> Option<()> {
        let fields @ [vhost, name, _, _] = row.as_tuple()? else { return None };
        join(vhost, name, &mut self.scratch)?;
        let Remembered { queues, look } = &mut self.remembered;
        let (look, row) = (*look, self.all.len());
        let name = if let Some(queue) = queues.get_mut(self.scratch.as_slice()) {
            (queue.look, queue.row) = (look, row);
            Arc::clone(&queue.name)
        } else {
            let name = Arc::from(name.to_text()?);
            let (key, copy) = (self.scratch.as_slice().into(), Arc::clone(&name));
            queues.insert(key, Queue { name: copy, look, row, written: None });
            name
        };
        self.all.push(empty(name, fields, &mut self.words)?);
        self.reductions.push(None);
        Some(())
    }

    /// The process of the queue, which should be on the node, is not there.
    fn dead(&mut self, row: &Term) -> Option<()> {
        let [vhost, name] = row.as_tuple()? else { return None };
        join(vhost, name, &mut self.scratch)?;
        if let Some(at) = self.joined() {
            self.all[at].missing = Some(Missing::Down);
        }
        Some(())
    }

    /// A row with its figures, or the reason why there are none.
    fn row(&mut self, term: &Term) -> Option<()> {
        let fields @ [_, _, _, _, figures] = term.as_tuple()? else { return None };
        let words = &mut self.words;
        let mut row = empty(fields[1].to_text()?.into(), fields, words)?;
        match figures.as_tuple() {
            Some([state, ready, unacknowledged, consumers, memory]) => {
                (row.ready, row.unacknowledged) = (ready.as_u64(), unacknowledged.as_u64());
                Infos::read(state, consumers, memory, words).put(&mut row);
            }
            _ => row.missing = Some(missing(figures.as_atom()?)?),
        }
        self.all.push(row);
        Some(())
    }

    /// What is not wanted has no name here.
    fn depth(&mut self, row: &Term) -> Option<()> {
        let [vhost, name, ready, unacknowledged, reductions] = row.as_tuple()? else {
            return None;
        };
        join(vhost, name, &mut self.scratch)?;
        if let Some(at) = self.joined() {
            let row = &mut self.all[at];
            (row.ready, row.unacknowledged) = (ready.as_u64(), unacknowledged.as_u64());
            self.reductions[at] = reductions.as_u64();
        }
        Some(())
    }

    fn infos(&mut self, row: &Term) -> Option<()> {
        let [vhost, name, state, consumers, memory] = row.as_tuple()? else { return None };
        join(vhost, name, &mut self.scratch)?;
        if let Some(at) = self.joined() {
            Infos::read(state, consumers, memory, &mut self.words).put(&mut self.all[at]);
        }
        Some(())
    }

    /// The row of the queue whose key was joined the last time, if it is wanted.
    fn joined(&self) -> Option<usize> {
        let Remembered { queues, look } = &self.remembered;
        let queue = queues.get(self.scratch.as_slice()).filter(|queue| queue.look == *look);
        queue.map(|queue| queue.row)
    }

    /// Fills in what is remembered and still so; says of which queues of this node it is not.
    pub(super) fn recall(&mut self, node: &str) -> Vec<Key> {
        let mut unknown = Vec::new();
        let Remembered { queues, look } = &self.remembered;
        for (key, queue) in queues.iter().filter(|(_, queue)| queue.look == *look) {
            let row = &mut self.all[queue.row];
            let reductions = self.reductions[queue.row];
            match queue.written.as_ref().filter(|it| Some(it.reductions) == reductions) {
                Some(written) => written.infos.put(row),
                None if *row.node == *node => unknown.push(key.clone()),
                None => {}
            }
        }
        unknown
    }

    /// All rows, and what is to be remembered. What has no figures although its leader is on this node is
    /// new, and not missing. Of a queue that does not run nothing is known but what it was.
    pub(super) fn of_node(mut self, node: &str, running: &[String]) -> (Vec<QueueRow>, Remembered) {
        let Remembered { queues, look } = &mut self.remembered;
        queues.retain(|_, queue| queue.look == *look);
        for queue in queues.values_mut() {
            let row = &mut self.all[queue.row];
            if row.missing == Some(Missing::Down) || !runs(&row.node, running) {
                without_figures(row);
                continue;
            }
            let empty = row.ready.is_none() && row.state.is_none();
            row.missing = (empty && *row.node != *node).then_some(Missing::NotHere);
            let reductions = self.reductions[queue.row].filter(|_| *row.kind == *"classic");
            queue.written =
                reductions.map(|reductions| Written { reductions, infos: Infos::of(row) });
        }
        (self.all, self.remembered)
    }
}

/// A queue of which no process is known is about to have one.
fn runs(node: &str, running: &[String]) -> bool {
    node.is_empty() || running.iter().any(|one| one == node)
}

fn without_figures(row: &mut QueueRow) {
    Infos::default().put(row);
    (row.ready, row.unacknowledged) = (None, None);
    row.missing = Some(Missing::Down);
}

impl Infos {
    fn read(state: &Term, consumers: &Term, memory: &Term, words: &mut Words) -> Self {
        Self {
            state: known(state).map(|state| words.share(state)),
            consumers: consumers.as_u64(),
            memory_bytes: memory.as_u64(),
        }
    }

    fn of(row: &QueueRow) -> Self {
        let (consumers, memory_bytes) = (row.consumers, row.memory_bytes);
        Self { state: row.state.clone(), consumers, memory_bytes }
    }

    fn put(&self, row: &mut QueueRow) {
        row.state.clone_from(&self.state);
        (row.consumers, row.memory_bytes) = (self.consumers, self.memory_bytes);
    }
}

/// Virtual host and name as one; the length of the first keeps them apart.
fn join(vhost: &Term, name: &Term, key: &mut Vec<u8>) -> Option<()> {
    let (vhost, name) = (vhost.as_binary()?, name.as_binary()?);
    key.clear();
    key.extend(u32::try_from(vhost.len()).ok()?.to_le_bytes());
    key.extend_from_slice(vhost);
    key.extend_from_slice(name);
    Some(())
}

/// The two, joined by [`join`].
pub(super) fn vhost_and_name(key: &Key) -> (&[u8], &[u8]) {
    let (length, both) = key.split_first_chunk().expect("a key begins with a length");
    both.split_at(u32::from_le_bytes(*length) as usize)
}

/// The name of a state.
fn known(state: &Term) -> Option<&str> {
    state.as_atom().filter(|state| !["unknown", ""].contains(state))
}

/// A queue without its figures.
fn empty(name: Arc<str>, fields: &[Term], words: &mut Words) -> Option<QueueRow> {
    let [vhost, _, module, process, ..] = fields else { return None };
    Some(QueueRow {
        name,
        vhost: match std::str::from_utf8(vhost.as_binary()?) {
            Ok(vhost) => words.share(vhost),
            Err(_) => vhost.to_text()?.into(),
        },
        kind: words.share(kind(module.as_atom()?)),
        node: words.share(node_of(process).unwrap_or_default()),
        state: None,
        ready: None,
        unacknowledged: None,
        consumers: None,
        memory_bytes: None,
        missing: None,
    })
}

/// The type as users know it, by the module that implements it.
fn kind(module: &str) -> &str {
    let known = module.strip_prefix("rabbit_").and_then(|rest| rest.strip_suffix("_queue"));
    known.unwrap_or(module)
}

/// A queue is a process, or the name of one and its node; some have none for a moment.
fn node_of(process: &Term) -> Option<&str> {
    match process.as_tuple() {
        Some([_, node]) => node.as_atom(),
        _ => Some(process.as_pid()?.node.as_str()),
    }
}

fn missing(word: &str) -> Option<Missing> {
    match word {
        "no_answer" => Some(Missing::NoAnswer),
        "not_asked" => Some(Missing::NotAsked),
        "gone" => Some(Missing::Gone),
        "down" => Some(Missing::Down),
        _ => None,
    }
}

#[cfg(test)]
#[path = "rows_tests.rs"]
mod tests;
