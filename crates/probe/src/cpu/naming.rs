//! What an address or a raw sample is called: rules without state.

use rabbitscope_profiles::{Frame, FrameKind, StackOutcome};

use super::wire::{NATIVE_CUT, OUTCOME_COMPLETE, OUTCOME_NO_PROCESS, OUTCOME_TRUNCATED, RawSample};
use crate::native::NativeName;

/// A stack counts as complete when the process's root was reached and no C frame is missing.
pub(super) fn outcome_of(raw: &RawSample) -> StackOutcome {
    match raw.outcome {
        OUTCOME_NO_PROCESS => StackOutcome::NoProcess,
        _ if raw.native_outcome == NATIVE_CUT => StackOutcome::Broken,
        OUTCOME_COMPLETE => StackOutcome::Complete,
        OUTCOME_TRUNCATED => StackOutcome::Truncated,
        _ => StackOutcome::Broken,
    }
}

/// Code shared by all functions is named `global::…`; the rest is `module:function/arity`.
pub(super) fn jit_frame(name: Option<&str>) -> (Frame, bool) {
    let Some(name) = name else {
        return (Frame { name: "[jit]".into(), kind: FrameKind::VmFragment }, false);
    };
    let is_fragment = name.starts_with("global::") || !name.contains(':');
    let kind = if is_fragment { FrameKind::VmFragment } else { FrameKind::Erlang };
    (Frame { name: name.into(), kind }, true)
}

pub(super) fn native_frame(name: NativeName, kind: FrameKind) -> (Frame, bool) {
    match name {
        NativeName::Known(name) => (Frame { name, kind }, true),
        NativeName::Unknown(name) => (Frame { name, kind }, false),
    }
}

#[cfg(test)]
mod tests {
    use rabbitscope_profiles::FrameKind;

    use super::jit_frame;

    #[test]
    fn kinds_of_jit_code() {
        assert_eq!(jit_frame(Some("lists:map/2")).0.kind, FrameKind::Erlang);
        assert_eq!(jit_frame(Some("global::call_light_bif_shared")).0.kind, FrameKind::VmFragment);
        assert!(!jit_frame(None).1);
    }
}
