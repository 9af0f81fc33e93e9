//! The BIF or NIF between an Erlang function and the C functions below it. Names are given only where the
//! code or the VM itself says which one it is.

use rustc_hash::FxHashMap;

use super::frames::NodeCode;
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
    /// By return address.
    calls: FxHashMap<u64, Option<CalledBif>>,
}

impl Callees {
    pub(super) fn new(process: &Process, emulator: &Emulator) -> Self {
        let functions = FunctionNames::new(process, emulator.bif_table);
        Self { functions, calls: FxHashMap::default() }
    }

    /// The C functions whose names the VM tells. `text` is the emulator's code, with its address.
    pub(super) fn native_functions(
        &mut self,
        node: NodeCode<'_>,
        text: (u64, &[u8]),
    ) -> Vec<NativeFunction> {
        native_functions(node.process, node.code, &mut self.functions, text)
    }

    /// Forgets what was read out of JIT code; to be called when the code map has changed.
    pub(super) fn code_changed(&mut self) {
        self.functions.code_changed();
        self.calls.clear();
    }

    /// What JIT code calls C for, outermost first. Empty when it is not known; two names when the BIF
    /// continues in another BIF.
    pub(super) fn at_native_call(&mut self, raw: &RawSample, node: NodeCode<'_>) -> Vec<String> {
        let fragment = node.code.name_at(raw.head.jit_return.wrapping_sub(1));
        let Some(fragment) = fragment.filter(|_| raw.has_process()) else { return Vec::new() };
        let innermost = self.innermost_bif(raw, node);
        let mut names = Vec::new();
        match fragment {
            CALL_BIF => {
                let light = innermost.filter(|call| call.through == CALL_LIGHT_BIF);
                names.extend(light.map(|call| call.name));
                names.extend(self.current_bif(raw, node));
                names.dedup();
            }
            CALL_NIF => names.extend(self.current(raw, node)),
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
        self.current(raw, node)
    }

    /// The BIF of the innermost Erlang call that has not returned.
    fn innermost_bif(&mut self, raw: &RawSample, node: NodeCode<'_>) -> Option<CalledBif> {
        let call = raw.innermost_call()?;
        if let Some(known) = self.calls.get(&call) {
            return known.clone();
        }
        let found = called_bif(node.process, node.code, &mut self.functions, call);
        self.calls.insert(call, found.clone());
        found
    }

    /// The function of `Process.current`, when it is a BIF. A BIF that is about to continue in Erlang code
    /// has set that Erlang function already.
    fn current_bif(&mut self, raw: &RawSample, node: NodeCode<'_>) -> Option<String> {
        let mfa = current_mfa(raw)?;
        self.functions.bif_named(mfa, node.code, node.process).map(str::to_owned)
    }

    /// The function of `Process.current`.
    fn current(&mut self, raw: &RawSample, node: NodeCode<'_>) -> Option<String> {
        let mfa = current_mfa(raw)?;
        self.functions.name_of(mfa, node.code, node.process).map(str::to_owned)
    }
}

fn current_mfa(raw: &RawSample) -> Option<CodeMfa> {
    let [module, function, arity] = raw.current_function()?;
    Some(CodeMfa { module, function, arity })
}
