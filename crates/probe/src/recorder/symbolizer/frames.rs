//! Frames: names of addresses. An address is looked up once, as long as the code does not change.

use rabbitscope_profiles::{Frame, FrameId, FrameKind, FrameTable, ThreadKind};
use rustc_hash::FxHashMap;

use crate::{
    beam::{CodeMap, NativeFunction, SourceLine},
    native::{NativeName, NativeNames, UnnamedCode},
    node::Process,
};

/// The node as the symbolizer reads it: its JIT code and its memory.
#[derive(Clone, Copy)]
pub(in super::super) struct NodeCode<'a> {
    pub(in super::super) code: &'a CodeMap,
    pub(in super::super) process: &'a Process,
}

/// Kind of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum AddressKind {
    /// An interrupted instruction of JIT code.
    JitInstruction,
    /// A return address in JIT code.
    JitReturn,
    /// An interrupted instruction of a mapped file.
    NativeInstruction,
    /// A return address in a mapped file.
    NativeReturn,
    /// Kernel code.
    Kernel,
}

impl AddressKind {
    fn is_jit(self) -> bool {
        matches!(self, Self::JitInstruction | Self::JitReturn)
    }

    /// The address to look up. For a return address that is the call before it, because the call may be the last
    /// instruction of its function.
    fn place(self, address: u64) -> u64 {
        match self {
            Self::JitReturn | Self::NativeReturn => address.wrapping_sub(1),
            _ => address,
        }
    }
}

/// Limits reads of the node's mappings to one per fetch, because a second read finds nothing new for the same
/// samples. A stack whose walk went astray has an address in no mapping, another one each time.
#[derive(Debug, Default)]
struct MappingsOfFetch {
    are_read: bool,
}

impl MappingsOfFetch {
    /// Returns true once per fetch.
    fn must_read(&mut self) -> bool {
        !std::mem::replace(&mut self.are_read, true)
    }
}

/// A frame of a stack.
#[derive(Clone, Copy, Debug)]
pub(super) struct NamedFrame {
    pub(super) id: FrameId,
    /// True if a symbol was found.
    pub(super) is_symbolized: bool,
    /// Source line of an Erlang function.
    pub(super) line: Option<SourceLine>,
    /// True if the address keeps this name until code changes. False for an address without a mapping, if the
    /// mappings were last read before the address came.
    pub(super) is_lasting: bool,
}

/// All frames of a recording.
pub(super) struct Frames {
    table: FrameTable,
    native: NativeNames,
    mappings: MappingsOfFetch,
    by_address: FxHashMap<(u64, AddressKind), NamedFrame>,
    /// Root frames, by kind of thread.
    threads: FxHashMap<ThreadKind, NamedFrame>,
    /// Code for which a debug file would have better names.
    unnamed: UnnamedCode,
}

impl Frames {
    /// Frames of `process`. `vm_functions` are C functions named by the VM.
    pub(super) fn new(process: &Process, vm_functions: Vec<NativeFunction>) -> Self {
        Self {
            table: FrameTable::default(),
            native: NativeNames::new(process, vm_functions),
            mappings: MappingsOfFetch::default(),
            by_address: FxHashMap::default(),
            threads: FxHashMap::default(),
            unnamed: UnnamedCode::default(),
        }
    }

    /// The code for which a debug file would have better names.
    pub(super) fn into_unnamed(self) -> UnnamedCode {
        self.unnamed
    }

    /// Starts a fetch of samples until now.
    pub(super) fn begin_fetch(&mut self) {
        self.mappings = MappingsOfFetch::default();
    }

    /// Drops names of JIT code. Call it after a change of the code map.
    pub(super) fn code_changed(&mut self) {
        self.by_address.retain(|&(_, kind), _| !kind.is_jit());
    }

    /// Number of kept names and addresses.
    pub(super) fn len(&self) -> usize {
        self.by_address.len() + self.table.len()
    }

    /// Drops all names. No earlier id is valid any more.
    pub(super) fn forget_names(&mut self) {
        self.table = FrameTable::default();
        self.by_address.clear();
        self.threads.clear();
    }

    pub(super) fn get(&self, id: FrameId) -> &Frame {
        self.table.get(id)
    }

    pub(super) fn name(&self, frame: NamedFrame) -> &str {
        &self.table.get(frame.id).name
    }

    /// Returns whether a function is known to be a BIF.
    pub(super) fn is_bif(&self, name: &str) -> bool {
        self.table.id_of(name, FrameKind::Bif).is_some()
    }

    /// The frame at the root of the stacks of a thread.
    pub(super) fn by_thread(&mut self, thread: ThreadKind) -> NamedFrame {
        if let Some(&frame) = self.threads.get(&thread) {
            return frame;
        }
        let frame = self.by_name(thread.name(), FrameKind::Thread);
        self.threads.insert(thread, frame);
        frame
    }

    /// A frame that is no address.
    pub(super) fn by_name(&mut self, name: &str, kind: FrameKind) -> NamedFrame {
        let id = self.table.intern_named(name, kind);
        NamedFrame { id, is_symbolized: true, line: None, is_lasting: true }
    }

    /// The frame of an address.
    pub(super) fn by_address(
        &mut self,
        address: u64,
        kind: AddressKind,
        node: NodeCode<'_>,
    ) -> NamedFrame {
        if let Some(&frame) = self.by_address.get(&(address, kind)) {
            return frame;
        }
        let place = kind.place(address);
        let mut is_lasting = true;
        let (frame, is_symbolized) = match kind {
            AddressKind::JitInstruction | AddressKind::JitReturn => {
                jit_frame(node.code.name_at(place))
            }
            AddressKind::NativeInstruction | AddressKind::NativeReturn => {
                if !self.native.is_mapped(address) {
                    is_lasting = self.mappings.must_read();
                    if is_lasting {
                        self.native.refresh(node.process);
                    }
                }
                let name = self.native.user(place);
                self.note_unnamed(&name, place);
                native_frame(name, FrameKind::Native)
            }
            AddressKind::Kernel => native_frame(self.native.kernel(place), FrameKind::Kernel),
        };
        let line = if kind.is_jit() { node.code.line_at(place) } else { None };
        let frame = NamedFrame { id: self.table.intern(frame), is_symbolized, line, is_lasting };
        if is_lasting {
            self.by_address.insert((address, kind), frame);
        }
        frame
    }

    fn note_unnamed(&mut self, name: &NativeName, place: u64) {
        let (NativeName::FromVm(name) | NativeName::Unknown(name)) = name else { return };
        let Some((path, offset)) = self.native.place_in_file(place) else { return };
        let file = || self.native.file(path).and_then(|file| file.try_clone().ok());
        self.unnamed.note((path, file), name, offset);
    }
}

/// The frame of JIT code. Code that functions share is named `global::…`; the rest is `module:function/arity`.
fn jit_frame(name: Option<&str>) -> (Frame, bool) {
    let Some(name) = name else {
        return (Frame { name: "[jit]".into(), kind: FrameKind::VmFragment }, false);
    };
    let is_fragment = name.starts_with("global::") || !name.contains(':');
    let kind = if is_fragment { FrameKind::VmFragment } else { FrameKind::Erlang };
    (Frame { name: name.into(), kind }, true)
}

fn native_frame(name: NativeName, kind: FrameKind) -> (Frame, bool) {
    match name {
        NativeName::Known(name) | NativeName::FromVm(name) => (Frame { name, kind }, true),
        NativeName::Unknown(name) => (Frame { name, kind }, false),
    }
}

#[cfg(test)]
mod tests {
    use rabbitscope_profiles::FrameKind;

    use super::{MappingsOfFetch, jit_frame};

    #[test]
    fn mappings_are_read_once_for_the_samples_of_a_fetch() {
        let mut mappings = MappingsOfFetch::default();
        assert_eq!([0; 3].map(|_| mappings.must_read()), [true, false, false]);
    }

    #[test]
    fn kinds_of_jit_code() {
        assert_eq!(jit_frame(Some("lists:map/2")).0.kind, FrameKind::Erlang);
        assert_eq!(jit_frame(Some("global::call_light_bif_shared")).0.kind, FrameKind::VmFragment);
        assert!(!jit_frame(None).1);
    }
}
