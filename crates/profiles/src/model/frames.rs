//! Frames of stacks, each function once.

use std::hash::BuildHasher as _;

use hashbrown::{DefaultHashBuilder, HashTable};
use serde::{Deserialize, Serialize};

/// What a frame is made of; decides how it is written and, with its place, its colour
/// ([`FrameClass`](super::FrameClass)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrameKind {
    /// The kind of thread, always the root of a stack: `scheduler`, `dirty_cpu_scheduler`, `aux` …
    /// In a tree of calls an Erlang process by its role, which may also stand where another one
    /// waits for it.
    Thread,
    /// An Erlang function, `module:function/arity`.
    Erlang,
    /// The same, where it is known that the function is written in C: a BIF or a NIF.
    Bif,
    /// Shared machine code of the VM's JIT, `global::…`: GC, calls into C, scheduling.
    VmFragment,
    /// A function of the emulator, of a NIF library or of libc.
    Native,
    /// A kernel function.
    Kernel,
    /// Not running: waiting for a message. Always innermost, like the two below.
    Waiting,
    /// Not running: the process could, and no scheduler had time for it.
    Runnable,
    /// Collecting garbage.
    Collecting,
}

impl FrameKind {
    /// Whether it is called `module:function/arity` and can be called by that name.
    pub fn is_erlang_function(self) -> bool {
        matches!(self, Self::Erlang | Self::Bif)
    }
}

/// A function as it is shown.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Frame {
    /// The name, without markers of its kind.
    pub name: String,
    /// What it is made of.
    pub kind: FrameKind,
}

impl Frame {
    /// Whether no symbol is known, so that it is called by its file and a place in it, or by neither.
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

/// Every distinct frame of a profile, once.
#[derive(Clone, Debug, Default)]
pub struct FrameTable {
    frames: Vec<Frame>,
    /// By the frames' hashes: names are kept once.
    index: HashTable<FrameId>,
    hashes: DefaultHashBuilder,
}

impl FrameTable {
    /// The id of `frame`, which is added if it is new.
    pub fn intern(&mut self, frame: Frame) -> FrameId {
        self.id_of(&frame.name, frame.kind).unwrap_or_else(|| self.add(frame))
    }

    /// The id of the frame of this name and kind, which is added if it is new.
    pub fn intern_named(&mut self, name: &str, kind: FrameKind) -> FrameId {
        let known = self.id_of(name, kind);
        known.unwrap_or_else(|| self.add(Frame { name: name.to_owned(), kind }))
    }

    /// The id of the frame of this name and kind.
    pub fn id_of(&self, name: &str, kind: FrameKind) -> Option<FrameId> {
        let is_meant = |id: &FrameId| {
            let frame = self.get(*id);
            frame.kind == kind && frame.name == name
        };
        self.index.find(self.hashes.hash_one((name, kind)), is_meant).copied()
    }

    /// A frame that is not in the table.
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

    /// The frame of an id handed out by this table.
    pub fn get(&self, id: FrameId) -> &Frame {
        &self.frames[id.0 as usize]
    }

    /// All frames in order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = (FrameId, &Frame)> {
        (0..).map(FrameId).zip(&self.frames)
    }

    /// Number of distinct frames.
    pub fn len(&self) -> usize {
        self.frames.len()
    }

    /// True when no frame was interned yet.
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
