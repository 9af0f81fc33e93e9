//! The BIF or NIF between an Erlang function and the C functions below it. A name requires that the code or the VM
//! itself identifies it.

use std::rc::Rc;

use rabbitscope_profiles::FrameKind;
use rustc_hash::FxHashMap;

use super::frames::{Frames, NamedFrame, NodeCode};
use crate::{
    beam::{
        CALL_BIF, CALL_LIGHT_BIF, CALL_NIF, CalledBif, CodeMfa, Emulator, FunctionNames,
        NativeFunction, called_bif, native_functions,
    },
    kernel_interface::RawSample,
    node::Process,
};

/// Looks up BIFs and NIFs, for the samples of one node.
pub(super) struct Callees {
    functions: FunctionNames,
    /// Called BIFs, by return address.
    calls: FxHashMap<u64, Option<CalledBif>>,
    /// Results for earlier samples.
    native_calls: FxHashMap<NativeCall, Rc<[NamedFrame]>>,
}

/// The fields of a sample that identify the purpose of a call from JIT code into C.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct NativeCall {
    jit_return: u64,
    innermost_call: Option<u64>,
    current: Option<CodeMfa>,
}

/// Limit of kept calls, beyond which all are dropped. Their words come from memory that the node changes meanwhile, so
/// that their number has no limit of its own.
const MAX_KEPT_CALLS: usize = 10_000;

impl Callees {
    pub(super) fn new(process: &Process, emulator: &Emulator) -> Self {
        let functions = FunctionNames::new(process, emulator.bif_table);
        Self { functions, calls: FxHashMap::default(), native_calls: FxHashMap::default() }
    }

    /// The C functions named by the VM. `text` is the emulator's code, with its address.
    pub(super) fn native_functions(
        &mut self,
        node: NodeCode<'_>,
        text: (u64, &[u8]),
    ) -> Vec<NativeFunction> {
        native_functions(node.process, node.code, &mut self.functions, text)
    }

    /// Drops all results read from JIT code. Call it after a change of the code map.
    pub(super) fn code_changed(&mut self) {
        self.functions.code_changed();
        self.calls.clear();
        self.native_calls.clear();
    }

    /// Drops all results with ids of frames.
    pub(super) fn forget_frames(&mut self) {
        self.native_calls.clear();
    }

    /// The BIF or NIF for which JIT code calls C, outermost first. Empty if it is unknown; two names if the BIF
    /// continues in another BIF.
    pub(super) fn at_native_call(
        &mut self,
        raw: &RawSample,
        node: NodeCode<'_>,
        frames: &mut Frames,
    ) -> Rc<[NamedFrame]> {
        if !raw.has_process() {
            return Rc::default();
        }
        let call = NativeCall {
            jit_return: raw.head.jit_return,
            innermost_call: raw.innermost_call(),
            current: current_mfa(raw),
        };
        if let Some(known) = self.native_calls.get(&call) {
            return Rc::clone(known);
        }
        if self.native_calls.len() >= MAX_KEPT_CALLS {
            self.native_calls.clear();
        }
        let names = self.find_native_call(call, node);
        let found: Rc<[NamedFrame]> =
            names.iter().map(|name| frames.by_name(name, FrameKind::Bif)).collect();
        self.native_calls.insert(call, Rc::clone(&found));
        found
    }

    fn find_native_call(&mut self, call: NativeCall, node: NodeCode<'_>) -> Vec<String> {
        let fragment = node.code.name_at(call.jit_return.wrapping_sub(1));
        let Some(fragment) = fragment else { return Vec::new() };
        let innermost = self.innermost_bif(call, node);
        let mut names = Vec::new();
        match fragment {
            CALL_BIF => {
                let light = innermost.filter(|call| call.through == CALL_LIGHT_BIF);
                names.extend(light.map(|call| call.name));
                names.extend(self.current_bif(call.current, node));
                names.dedup();
            }
            CALL_NIF => names.extend(self.current(call.current, node)),
            _ => {
                let here = innermost.filter(|call| call.through == fragment);
                names.extend(here.map(|call| call.name));
            }
        }
        names
    }

    /// The NIF or BIF that a dirty scheduler calls.
    pub(super) fn on_dirty_scheduler(
        &mut self,
        raw: &RawSample,
        node: NodeCode<'_>,
    ) -> Option<String> {
        self.current(current_mfa(raw), node)
    }

    /// The BIF of the innermost Erlang call that has not returned.
    fn innermost_bif(&mut self, call: NativeCall, node: NodeCode<'_>) -> Option<CalledBif> {
        let call = call.innermost_call?;
        if let Some(known) = self.calls.get(&call) {
            return known.clone();
        }
        let found = called_bif(node.process, node.code, &mut self.functions, call);
        self.calls.insert(call, found.clone());
        found
    }

    /// The function of `Process.current`, if it is a BIF. A BIF that is about to continue in Erlang code has
    /// already set that Erlang function.
    fn current_bif(&mut self, current: Option<CodeMfa>, node: NodeCode<'_>) -> Option<String> {
        self.functions.bif_named(current?, node.code, node.process).map(str::to_owned)
    }

    /// The function of `Process.current`.
    fn current(&mut self, current: Option<CodeMfa>, node: NodeCode<'_>) -> Option<String> {
        self.functions.name_of(current?, node.code, node.process).map(str::to_owned)
    }
}

fn current_mfa(raw: &RawSample) -> Option<CodeMfa> {
    let [module, function, arity] = raw.current_function()?;
    Some(CodeMfa { module, function, arity })
}
