//! Names by which a profile is kept in pprof: files of mappings, labels, comments.

use super::super::{FrameKind, Mode, StackOutcome};

/// Files of the mappings that stand for kinds of frames. pprof takes the first one that does not
/// start with a bracket for the program's name, and looks for no symbols in the others.
pub(super) const KINDS: [(FrameKind, &str); 9] = [
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

pub(super) const MODES: [(Mode, &str); 2] = [(Mode::User, "user"), (Mode::Kernel, "kernel")];

pub(super) const OUTCOMES: [StackOutcome; 5] = [
    StackOutcome::Complete,
    StackOutcome::Truncated,
    StackOutcome::Broken,
    StackOutcome::NoProcess,
    StackOutcome::Unknown,
];

pub(super) const LABEL_PROCESS: &str = "process";

pub(super) const LABEL_THREAD: &str = "thread";

pub(super) const LABEL_MODE: &str = "mode";

pub(super) const LABEL_OUTCOME: &str = "outcome";

pub(super) const LABEL_ROLE: &str = "role";

pub(super) const LABEL_VHOST: &str = "vhost";

pub(super) const LABEL_CONNECTION: &str = "connection";

/// The name of a process stands under what it is the name of.
pub(super) const LABEL_NAME: &str = "name";

pub(super) const LABEL_QUEUE: &str = "queue";

pub(super) const LABEL_CHANNEL: &str = "channel";

/// The labels that are read; other programs write others.
pub(super) const KEPT_LABELS: [&str; 10] = [
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

pub(super) const COMMENT_EVENT: &str = "rabbitscope.event=";

pub(super) const COMMENT_CAPTURE: &str = "rabbitscope.capture=";

pub(super) const COMMENT_QUALITY: &str = "rabbitscope.quality=";
