//! Names that represent a profile in pprof: files of mappings, labels, comments.

use super::super::{FrameKind, Mode, StackOutcome};

/// Files of the mappings that represent kinds of frames. pprof takes the first file without a leading bracket as the
/// program's name, and searches no symbols in the others.
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

pub(super) const LABEL_CLIENT: &str = "client";

/// The key of a process's name, unless it names a queue or a channel.
pub(super) const LABEL_NAME: &str = "name";

pub(super) const LABEL_QUEUE: &str = "queue";

pub(super) const LABEL_CHANNEL: &str = "channel";

/// Labels that the reader keeps. Other programs write further ones.
pub(super) const KEPT_LABELS: [&str; 11] = [
    LABEL_PROCESS,
    LABEL_THREAD,
    LABEL_MODE,
    LABEL_OUTCOME,
    LABEL_ROLE,
    LABEL_VHOST,
    LABEL_CONNECTION,
    LABEL_CLIENT,
    LABEL_NAME,
    LABEL_QUEUE,
    LABEL_CHANNEL,
];

pub(super) const COMMENT_EVENT: &str = "rabbitscope.event=";

pub(super) const COMMENT_CAPTURE: &str = "rabbitscope.capture=";

pub(super) const COMMENT_QUALITY: &str = "rabbitscope.quality=";
