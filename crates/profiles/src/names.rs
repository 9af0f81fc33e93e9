//! Kinds of functions, derived from their names, for formats that keep only names.

use super::{Frame, FrameKind, source_name};

/// Kinds of threads, as named at the root of a stack.
const THREAD_KINDS: [&str; 7] =
    ["scheduler", "dirty_cpu_scheduler", "dirty_io_scheduler", "poll", "aux", "async", "other"];

/// States of a process that does not run, by the name of their frame.
const STATES: [(&str, FrameKind); 3] = [
    ("[wait]", FrameKind::Waiting),
    ("[runnable]", FrameKind::Runnable),
    ("[gc]", FrameKind::Collecting),
];

/// Suffix of a kernel function's name.
pub(super) const KERNEL_SUFFIX: &str = "_[k]";

/// Returns the kind of a frame at the root of a stack.
pub(super) fn kind_of_root(name: &str) -> FrameKind {
    if THREAD_KINDS.contains(&name) { FrameKind::Thread } else { kind_of(name) }
}

/// Returns the kind of any other frame. A kernel function must still carry its [`KERNEL_SUFFIX`].
pub(super) fn kind_of(name: &str) -> FrameKind {
    if let Some(&(_, kind)) = STATES.iter().find(|(state, _)| *state == name) {
        kind
    } else if name.ends_with(KERNEL_SUFFIX) {
        FrameKind::Kernel
    } else if name.starts_with("global::") {
        FrameKind::VmFragment
    } else if is_erlang(name) {
        FrameKind::Erlang
    } else {
        FrameKind::Native
    }
}

/// Makes the frame of a native function from its symbol.
pub(super) fn native_frame(symbol: &str) -> Frame {
    Frame { name: source_name(symbol).into_owned(), kind: FrameKind::Native }
}

/// Makes the frame of a kernel function. All functions without a symbol share one frame.
pub(super) fn kernel_frame(symbol: Option<&str>) -> Frame {
    let name = symbol.map_or("kernel".into(), source_name);
    Frame { name: name.into_owned(), kind: FrameKind::Kernel }
}

/// Makes the frame that stands for all functions of a file without symbols.
pub(super) fn module_frame(path: &str) -> Frame {
    let file = path.trim_end_matches(" (deleted)").rsplit('/').next().unwrap_or(path);
    let file = file.trim_start_matches('[').trim_end_matches(']');
    Frame { name: format!("[{file}]"), kind: FrameKind::Native }
}

/// Makes the frame of generated code from its name in `/tmp/perf-PID.map`. The Erlang VM prefixes each name with `$`
/// and marks parts of some functions with a suffix.
pub(super) fn generated_frame(name: &str) -> Frame {
    let name = name.strip_prefix('$').unwrap_or(name);
    let name = ["-CodeInfoPrologue", "::codeHeader", "::codeFooter"]
        .iter()
        .find_map(|suffix| name.strip_suffix(suffix))
        .unwrap_or(name);
    Frame { name: name.to_owned(), kind: kind_of(name) }
}

/// Returns whether a name has the form `module:function/arity`. Either name may hold any character; the arity decides.
fn is_erlang(name: &str) -> bool {
    let Some((function, arity)) = name.rsplit_once('/') else { return false };
    let is_number = (1..=3).contains(&arity.len()) && arity.bytes().all(|b| b.is_ascii_digit());
    let has_module =
        function.find(':').is_some_and(|colon| colon > 0 && colon + 1 < function.len());
    is_number && has_module && !function.contains("::")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, expected: FrameKind) {
        assert_eq!(kind_of(name), expected, "{name}");
    }

    #[test]
    fn a_name_tells_its_kind() {
        check("lists:foldr_1/3", FrameKind::Erlang);
        check("rabbit_stream_queue:'-deliver/3-fun-0-'/2", FrameKind::Erlang);
        check("'my mod':f/0", FrameKind::Erlang);
        check("erlang:'/'/2", FrameKind::Erlang);
        check("global::call_light_bif_shared", FrameKind::VmFragment);
        check("tcp_sendmsg_[k]", FrameKind::Kernel);
        check("erts_schedule", FrameKind::Native);
        check("[wait]", FrameKind::Waiting);
        check("std::io::Read/1", FrameKind::Native);
        check("libc.so.6+0x1234", FrameKind::Native);
        check(":f/1", FrameKind::Native);
        check("m:f/1x", FrameKind::Native);
        check("net/http.(*conn).serve", FrameKind::Native);
    }

    #[test]
    fn a_thread_is_known_at_the_root_only() {
        assert_eq!(kind_of_root("scheduler"), FrameKind::Thread);
        assert_eq!(kind_of_root("main.main"), FrameKind::Native);
        check("scheduler", FrameKind::Native);
    }

    #[test]
    fn generated_code_is_named_as_in_the_vm() {
        let check = |name: &str, expected: &str, kind: FrameKind| {
            assert_eq!(generated_frame(name), Frame { name: expected.to_owned(), kind });
        };
        check("$ets:all/0", "ets:all/0", FrameKind::Erlang);
        check("$ets:all/0-CodeInfoPrologue", "ets:all/0", FrameKind::Erlang);
        check("$global::i_generic", "global::i_generic", FrameKind::VmFragment);
        check("LazyCompile:~x", "LazyCompile:~x", FrameKind::Native);
    }
}
