//! Errors of observing a node from outside. Every message names the next step.

use std::io;

use thiserror::Error;

/// The capabilities of the installed program, for `setcap`. [`crate::permission`] explains the use of each.
pub(crate) const FILE_CAPABILITIES: &str = "cap_bpf,cap_perfmon,cap_sys_ptrace,cap_syslog=p";

/// The family of an error, which determines the program's exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// A capability or sysctl is missing.
    Permission,
    /// There is no such node, or it has exited.
    NodeNotFound,
    /// The node or this machine is of an unsupported kind.
    Unsupported,
    /// Any other failure.
    Failed,
}

/// Failures to observe a node.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ProbeError {
    /// The process lacks capabilities.
    #[error(
        "missing {}: run as root (sudo), or install the program for a group, whose members may then sample every \
         Erlang VM of this machine: `sudo scripts/install.sh GROUP`, or without moving the program `sudo sh -c 'chgrp \
         GROUP {program} && chmod 750 {program} && setcap {FILE_CAPABILITIES} {program}'`",
        missing.join(", ")
    )]
    MissingCapabilities {
        /// Names as in capabilities(7).
        missing: Vec<&'static str>,
        /// Path of the running program.
        program: String,
    },
    /// The program is set-user-ID root, so that every user would open files as root.
    #[error(
        "the program is set-user-ID root, so any user could open every file with it: run `sudo chmod u-s {program}`, \
         then install it for a group with `sudo scripts/install.sh GROUP`"
    )]
    SetUserId {
        /// Path of the running program.
        program: String,
    },
    /// The kernel refuses this process perf events on the node.
    #[error(
        "no perf events on process {pid}: {detail}; for a process of the same user, sysctl kernel.perf_event_paranoid \
         must be 2 or lower; other processes need CAP_PERFMON and CAP_SYS_PTRACE"
    )]
    PerfEvents {
        /// The node.
        pid: u32,
        /// The error of the kernel.
        detail: String,
    },
    /// An event that the permitted backend cannot record.
    #[error(
        "{backend} cannot record {event}, only cpu. eBPF is not used: {because}; `profile --explain` shows what eBPF \
         needs"
    )]
    EventNeedsEbpf {
        /// The request.
        event: &'static str,
        /// The backend.
        backend: &'static str,
        /// The reason against eBPF.
        because: String,
    },
    /// No process with this pid.
    #[error("no process with pid {pid}; `pgrep -a beam.smp` lists the nodes of this machine")]
    NoSuchProcess {
        /// The request.
        pid: u32,
    },
    /// The process is not an Erlang VM.
    #[error("process {pid} ({program}) is not an Erlang VM; give the pid of a beam.smp process")]
    NotABeam {
        /// The request.
        pid: u32,
        /// Executable of the process.
        program: String,
    },
    /// The VM has no JIT.
    #[error(
        "node {pid} has no list of machine code: it uses the interpreter (emu flavour) or is still starting; start it \
         with a JIT build of Erlang/OTP (`erl -emu_flavor jit`)"
    )]
    InterpreterOnly {
        /// The node.
        pid: u32,
    },
    /// No node of this machine has the name.
    #[error("no node named {name} on this machine; {}", known_nodes(.known))]
    NoSuchNode {
        /// The request.
        name: String,
        /// Names of the nodes of this machine.
        known: Vec<String>,
    },
    /// No VM runs here.
    #[error("no Erlang node runs on this machine; start one, or give --pid")]
    NoNodes,
    /// More than one VM runs here.
    #[error("several Erlang nodes run on this machine; give --pid or --node; {}", known_nodes(.known))]
    SeveralNodes {
        /// Names of the nodes of this machine.
        known: Vec<String>,
    },
    /// The layout of the VM could not be determined.
    #[error(
        "cannot interpret the memory of node {pid} (Erlang/OTP {release}, erts {erts}): {detail}; nothing was \
         recorded. Please report this line with the name of the package"
    )]
    LayoutNotFound {
        /// The node.
        pid: u32,
        /// OTP release.
        release: String,
        /// Version of the runtime system.
        erts: String,
        /// The part with no reading, or with several, and the readings.
        detail: String,
    },
    /// The memory of the node contradicts the layout that was found.
    #[error(
        "the memory of node {pid} (Erlang/OTP {release}) contradicts the detected layout: {detail}; nothing was \
         recorded. Please report the package's version"
    )]
    LayoutMismatch {
        /// The node.
        pid: u32,
        /// OTP release.
        release: String,
        /// The disagreement.
        detail: String,
    },
    /// The table of JIT code could not be read.
    #[error("cannot read the JIT symbol table of node {pid}: {detail}")]
    JitTable {
        /// The node.
        pid: u32,
        /// The defect.
        detail: String,
    },
    /// The machine's processor is not supported.
    #[error("the recorder does not support {arch}, only x86_64 and aarch64")]
    UnsupportedMachine {
        /// Architecture of this machine.
        arch: &'static str,
    },
    /// The kernel refused the program.
    #[error("the kernel refused the sampler: {detail}; it needs Linux 6.1 or later with BTF")]
    Kernel {
        /// The kernel's message, shortened.
        detail: String,
    },
    /// The frequency exceeds the kernel's limit.
    #[error(
        "{asked_hz} samples per second exceed the kernel's limit ({limit_hz}, sysctl \
         kernel.perf_event_max_sample_rate); give a lower --freq"
    )]
    FrequencyTooHigh {
        /// The request.
        asked_hz: u32,
        /// The limit.
        limit_hz: u32,
    },
    /// The shared clock already observes the most nodes that it can.
    #[error("{most} nodes are already recorded, which is the limit; exclude some by name")]
    TooManyNodes {
        /// The limit.
        most: usize,
    },
    /// The node exited before anything was recorded.
    #[error("node {pid} exited before the first sample")]
    NodeExited {
        /// The node.
        pid: u32,
    },
    /// An operating-system call failed.
    #[error("{action}: {source}")]
    Io {
        /// The action that failed, with path or pid.
        action: String,
        /// The error of the system.
        source: io::Error,
    },
}

impl ProbeError {
    /// The family of this error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::MissingCapabilities { .. }
            | Self::SetUserId { .. }
            | Self::PerfEvents { .. }
            | Self::EventNeedsEbpf { .. } => ErrorKind::Permission,
            Self::Io { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
                ErrorKind::Permission
            }
            Self::NoSuchProcess { .. }
            | Self::NotABeam { .. }
            | Self::NoSuchNode { .. }
            | Self::NoNodes
            | Self::SeveralNodes { .. }
            | Self::NodeExited { .. } => ErrorKind::NodeNotFound,
            Self::InterpreterOnly { .. }
            | Self::LayoutNotFound { .. }
            | Self::LayoutMismatch { .. }
            | Self::UnsupportedMachine { .. } => ErrorKind::Unsupported,
            Self::JitTable { .. }
            | Self::TooManyNodes { .. }
            | Self::FrequencyTooHigh { .. }
            | Self::Kernel { .. }
            | Self::Io { .. } => ErrorKind::Failed,
        }
    }

    /// Returns whether more privileges would help.
    pub(crate) fn is_permission(&self) -> bool {
        self.kind() == ErrorKind::Permission
    }

    /// Wraps the failure of `action`.
    pub(crate) fn io(action: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let action = action.into();
        move |source| Self::Io { action, source }
    }
}

fn known_nodes(known: &[String]) -> String {
    if known.is_empty() { "none runs here".into() } else { format!("here: {}", known.join(", ")) }
}
