//! What C was called for: the BIF or NIF between an Erlang function and the C functions below it.
//! Names are given only where the code or the VM itself says which one it is.

use rustc_hash::FxHashMap;

use super::wire::RawSample;
use crate::{
    beam::{
        CALL_BIF, CALL_LIGHT_BIF, CALL_NIF, CalledBif, CodeMap, Emulator, FunctionNames, called_bif,
    },
    node::Process,
};

/// C functions in which a dirty scheduler calls what the VM has noted.
const DIRTY_CALLS: [&str; 2] = ["erts_call_dirty_nif", "erts_call_dirty_bif"];

/// Looks up what samples of one node called.
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

    /// Forgets what was read out of JIT code; to be called when the code map has changed.
    pub(super) fn code_changed(&mut self) {
        self.functions.code_changed();
        self.calls.clear();
    }

    /// What JIT code called C for, outermost first. Empty when it is not known; two when the BIF
    /// that was called goes on in another one.
    pub(super) fn at_boundary(
        &mut self,
        raw: &RawSample,
        code: &CodeMap,
        process: &Process,
    ) -> Vec<String> {
        let fragment = code.name_at(raw.boundary.wrapping_sub(1));
        let Some(fragment) = fragment.filter(|_| raw.process != 0) else { return Vec::new() };
        let pending = self.pending(raw, code, process);
        let mut names = Vec::new();
        match fragment {
            CALL_BIF => {
                let light = pending.filter(|call| call.through == CALL_LIGHT_BIF);
                names.extend(light.map(|call| call.name));
                names.extend(self.noted_bif(raw, code, process));
                names.dedup();
            }
            CALL_NIF => names.extend(self.noted(raw, code, process)),
            _ => {
                let here = pending.filter(|call| call.through == fragment);
                names.extend(here.map(|call| call.name));
            }
        }
        names
    }

    /// What a dirty scheduler runs, of whose C functions `outermost` is the first.
    pub(super) fn on_dirty_scheduler(
        &mut self,
        raw: &RawSample,
        outermost: &str,
        code: &CodeMap,
        process: &Process,
    ) -> Option<String> {
        DIRTY_CALLS.contains(&outermost).then(|| self.noted(raw, code, process)).flatten()
    }

    /// The BIF of the innermost Erlang call that has not returned.
    fn pending(&mut self, raw: &RawSample, code: &CodeMap, process: &Process) -> Option<CalledBif> {
        let call = raw.innermost_call()?;
        if let Some(known) = self.calls.get(&call) {
            return known.clone();
        }
        let found = called_bif(process, code, &mut self.functions, call);
        self.calls.insert(call, found.clone());
        found
    }

    /// What the VM itself noted, when it is a BIF. One that prepares to go on in Erlang code has noted that
    /// function already.
    fn noted_bif(&mut self, raw: &RawSample, code: &CodeMap, process: &Process) -> Option<String> {
        self.functions.bif_named(raw.called()?, code, process).map(str::to_owned)
    }

    /// What the VM itself noted.
    fn noted(&mut self, raw: &RawSample, code: &CodeMap, process: &Process) -> Option<String> {
        self.functions.name_of(raw.called()?, code, process).map(str::to_owned)
    }
}
