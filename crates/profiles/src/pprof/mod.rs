//! pprof: gzipped protocol buffers that `go tool pprof` and many other tools open.
//!
//! [`message`] is the part of `profile.proto` that is used, [`fields`] its outermost layer, [`mod@write`] and [`mod@read`] the two
//! directions. What pprof has no field for (quality, the way of recording) goes into its comments,
//! and the kind of a frame into its mapping, so that a profile that is read again is the same.
//! `docs/formats.md` describes this for other readers.

mod fields;
mod message;
mod read;
mod samples;
mod write;

pub use read::{PprofError, read_pprof, read_pprof_within};
pub use write::write_pprof;

use super::{FrameKind, Mode, StackOutcome};

/// Files of the mappings that stand for kinds of frames. pprof takes the first one that does not
/// start with a bracket for the program's name, and looks for no symbols in the others.
const KINDS: [(FrameKind, &str); 9] = [
    (FrameKind::Erlang, "erlang"),
    (FrameKind::Bif, "[bif]"),
    (FrameKind::VmFragment, "[vm-fragment]"),
    (FrameKind::Native, "[native]"),
    (FrameKind::Kernel, "[kernel]"),
    (FrameKind::Thread, "[thread]"),
    (FrameKind::Waiting, "[waiting]"),
    (FrameKind::Runnable, "[runnable]"),
    (FrameKind::Collecting, "[collecting]"),
];

const MODES: [(Mode, &str); 2] = [(Mode::User, "user"), (Mode::Kernel, "kernel")];

const OUTCOMES: [StackOutcome; 5] = [
    StackOutcome::Complete,
    StackOutcome::Truncated,
    StackOutcome::Broken,
    StackOutcome::NoProcess,
    StackOutcome::Unknown,
];

const LABEL_PROCESS: &str = "process";
const LABEL_THREAD: &str = "thread";
const LABEL_MODE: &str = "mode";
const LABEL_OUTCOME: &str = "outcome";
const LABEL_ROLE: &str = "role";
const LABEL_VHOST: &str = "vhost";
const LABEL_CONNECTION: &str = "connection";

/// The name of a process stands under what it is the name of.
const LABEL_NAME: &str = "name";
const LABEL_QUEUE: &str = "queue";
const LABEL_CHANNEL: &str = "channel";

/// The labels that are read; other programs write others.
const KEPT_LABELS: [&str; 10] = [
    LABEL_PROCESS,
    LABEL_THREAD,
    LABEL_MODE,
    LABEL_OUTCOME,
    LABEL_ROLE,
    LABEL_VHOST,
    LABEL_CONNECTION,
    LABEL_NAME,
    LABEL_QUEUE,
    LABEL_CHANNEL,
];

const COMMENT_EVENT: &str = "rabbitscope.event=";
const COMMENT_CAPTURE: &str = "rabbitscope.capture=";
const COMMENT_QUALITY: &str = "rabbitscope.quality=";

#[cfg(test)]
mod tests;
