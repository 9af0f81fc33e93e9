//! What a function's name says about its kind, for formats that keep nothing but names.

use super::{Frame, FrameKind, source_name};

/// Kinds of threads as they are named at the root of a stack.
const THREAD_KINDS: [&str; 7] =
    ["scheduler", "dirty_cpu_scheduler", "dirty_io_scheduler", "poll", "aux", "async", "other"];

/// What a process does instead of running, by the name of its frame.
const STATES: [(&str, FrameKind); 3] = [
    ("[wait]", FrameKind::Waiting),
    ("[runnable]", FrameKind::Runnable),
    ("[gc]", FrameKind::Collecting),
];

/// What marks a kernel function at the end of its name.
pub(super) const KERNEL_SUFFIX: &str = "_[k]";

/// The kind of a frame that stands at the root of a stack.
pub(super) fn kind_of_root(name: &str) -> FrameKind {
    if THREAD_KINDS.contains(&name) { FrameKind::Thread } else { kind_of(name) }
}

/// The kind of any other frame. A kernel function must still carry its [`KERNEL_SUFFIX`].
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

/// The frame of a function of a program or a library, from its symbol.
pub(super) fn native_frame(symbol: &str) -> Frame {
    Frame { name: source_name(symbol).into_owned(), kind: FrameKind::Native }
}

/// The frame of a kernel function; all without a symbol are one.
pub(super) fn kernel_frame(symbol: Option<&str>) -> Frame {
    let name = symbol.map_or("kernel".into(), source_name);
    Frame { name: name.into_owned(), kind: FrameKind::Kernel }
}

/// Stands for the functions of a file that have no symbol.
pub(super) fn module_frame(path: &str) -> Frame {
    let file = path.trim_end_matches(" (deleted)").rsplit('/').next().unwrap_or(path);
    let file = file.trim_start_matches('[').trim_end_matches(']');
    Frame { name: format!("[{file}]"), kind: FrameKind::Native }
}

/// The frame of code that a process generated, from its line in `/tmp/perf-PID.map`. The Erlang VM
/// puts a `$` before each name and says after some of them which part of the function it is.
pub(super) fn generated_frame(name: &str) -> Frame {
    let name = name.strip_prefix('$').unwrap_or(name);
    let name = ["-CodeInfoPrologue", "::codeHeader", "::codeFooter"]
        .iter()
        .find_map(|suffix| name.strip_suffix(suffix))
        .unwrap_or(name);
    Frame { name: name.to_owned(), kind: kind_of(name) }
}

/// `module:function/arity`. Either part may hold any character; the arity decides.
fn is_erlang(name: &str) -> bool {
    let Some((function, arity)) = name.rsplit_once('/') else { return false };
    let is_number = (1..=3).contains(&arity.len()) && arity.bytes().all(|b| b.is_ascii_digit());
    let has_module = function.find(':').is_some_and(|at| at > 0 && at + 1 < function.len());
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
