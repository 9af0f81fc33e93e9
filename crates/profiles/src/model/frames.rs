//! Frames of stacks, with each function stored once.

use std::hash::BuildHasher as _;

use hashbrown::{DefaultHashBuilder, HashTable};
use serde::{Deserialize, Serialize};

/// The origin of a frame's code. It decides the frame's written form and, with its place, its colour
/// ([`FrameClass`](super::FrameClass)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrameKind {
    /// The kind of thread, always the root of a stack: `scheduler`, `dirty_cpu_scheduler`, `aux` … In a tree of calls,
    /// an Erlang process by its role, which may also stand where another process waits for it.
    Thread,
    /// An Erlang function, `module:function/arity`.
    Erlang,
    /// An Erlang function that is known to be written in C: a BIF or a NIF.
    Bif,
    /// Shared machine code of the VM's JIT, `global::…`: GC, calls into C, scheduling.
    VmFragment,
    /// A function of the emulator, of a NIF library or of libc.
    Native,
    /// A kernel function.
    Kernel,
    /// Not running: waiting for a message. This and the next two kinds are always innermost.
    Waiting,
    /// Not running: ready, but no scheduler had time for it.
    Runnable,
    /// Collecting garbage.
    Collecting,
}

impl FrameKind {
    /// Returns whether its name has the form `module:function/arity` and can be called by it.
    pub fn is_erlang_function(self) -> bool {
        matches!(self, Self::Erlang | Self::Bif)
    }
}

/// A function in its display form.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Frame {
    /// The name, without markers of the kind.
    pub name: String,
    /// The origin of its code.
    pub kind: FrameKind,
}

impl Frame {
    /// Returns whether the frame lacks a symbol, so that its name is a file with an offset, or less.
    pub fn is_unsymbolised(&self) -> bool {
        let has_place = self.name.contains("+0x") || self.name.starts_with("0x");
        match self.kind {
            FrameKind::Native => has_place,
            FrameKind::Kernel => has_place || self.name == "kernel",
            _ => false,
        }
    }
}

/// Index of a [`Frame`] in the [`FrameTable`] of the same profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FrameId(pub u32);

/// The distinct frames of a profile.
#[derive(Clone, Debug, Default)]
pub struct FrameTable {
    frames: Vec<Frame>,
    /// Index by the frames' hashes, so that names are stored once.
    index: HashTable<FrameId>,
    hashes: DefaultHashBuilder,
}

impl FrameTable {
    /// Returns the id of `frame`, and adds it if it is new.
    pub fn intern(&mut self, frame: Frame) -> FrameId {
        self.id_of(&frame.name, frame.kind).unwrap_or_else(|| self.add(frame))
    }

    /// Returns the id of the frame with this name and kind, and adds it if it is new.
    pub fn intern_named(&mut self, name: &str, kind: FrameKind) -> FrameId {
        let known = self.id_of(name, kind);
        known.unwrap_or_else(|| self.add(Frame { name: name.to_owned(), kind }))
    }

    /// Adds the frames of another table. Returns their ids in this one, in the order of the other's.
    pub fn intern_all(&mut self, other: &Self) -> Vec<FrameId> {
        other.iter().map(|(_, frame)| self.intern_named(&frame.name, frame.kind)).collect()
    }

    /// Returns the id of the frame with this name and kind.
    pub fn id_of(&self, name: &str, kind: FrameKind) -> Option<FrameId> {
        let is_meant = |id: &FrameId| {
            let frame = self.get(*id);
            frame.kind == kind && frame.name == name
        };
        self.index.find(self.hashes.hash_one((name, kind)), is_meant).copied()
    }

    /// Adds a frame that is not in the table yet.
    fn add(&mut self, frame: Frame) -> FrameId {
        let id = FrameId(u32::try_from(self.frames.len()).expect("fewer than 2^32 functions"));
        let Self { frames, index, hashes } = self;
        frames.push(frame);
        let hash = |id: &FrameId| {
            let Frame { name, kind } = &frames[id.0 as usize];
            hashes.hash_one((name.as_str(), *kind))
        };
        index.insert_unique(hash(&id), id, hash);
        id
    }

    /// Returns the frame of an id from this table.
    pub fn get(&self, id: FrameId) -> &Frame {
        &self.frames[id.0 as usize]
    }

    /// All frames, in order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = (FrameId, &Frame)> {
        (0..).map(FrameId).zip(&self.frames)
    }

    /// Number of distinct frames.
    pub fn len(&self) -> usize {
        self.frames.len()
    }

    /// True when the table has no frame yet.
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::{Frame, FrameId, FrameKind, FrameTable};

    #[test]
    fn frames_are_told_apart_by_name_and_kind() {
        let mut table = FrameTable::default();
        let erlang = table.intern_named("a", FrameKind::Erlang);
        let native = table.intern_named("a", FrameKind::Native);
        assert_eq!((erlang, native), (FrameId(0), FrameId(1)));
        assert_eq!(table.intern(Frame { name: "a".to_owned(), kind: FrameKind::Native }), native);
        assert_eq!(table.id_of("a", FrameKind::Bif), None);
        let others: Vec<FrameId> = (0..1000)
            .map(|name| table.intern_named(&name.to_string(), FrameKind::Erlang))
            .collect();
        for (name, id) in others.into_iter().enumerate() {
            assert_eq!(table.id_of(&name.to_string(), FrameKind::Erlang), Some(id));
            assert_eq!(table.get(id).name, name.to_string());
        }
        assert_eq!((table.id_of("a", FrameKind::Native), table.len()), (Some(native), 1002));
    }
}
