//! Reasons why a source could not be read, each with the way to permit it.

use rabbitscope_diagnosis::{Source, Unread};
use rabbitscope_probe::{ErrorKind, ProbeError};

/// Returns the reason for a source that needs a process of this machine.
pub(crate) fn elsewhere(source: Source) -> Unread {
    unread(source, "no process of the node is seen on this machine", "run the check there, as root")
}

/// Returns the reason in an error of the probe.
pub(crate) fn refused(source: Source, error: &ProbeError) -> Unread {
    match error {
        ProbeError::MissingCapabilities { missing, .. } => {
            missing_rights(source, &format!("{} missing", missing.join(", ")))
        }
        ProbeError::Io { .. } if error.kind() == ErrorKind::Permission => {
            missing_rights(source, &error.to_string())
        }
        _ => from_text(source, &error.to_string()),
    }
}

/// Returns a reason that capabilities would remove.
pub(crate) fn missing_rights(source: Source, reason: &str) -> Unread {
    let remedy = match source {
        Source::Packets => {
            "run it with sudo, or permit it to a group once: sudo scripts/install.sh --packets GROUP"
        }
        _ => "run it with sudo, or permit it to a group once: sudo scripts/install.sh GROUP",
    };
    unread(source, reason, remedy)
}

/// Splits an error into the reason and the next step, which messages of the probe put behind `; `.
pub(crate) fn from_text(source: Source, text: &str) -> Unread {
    let (reason, remedy) = text.split_once("; ").unwrap_or((text, ""));
    unread(source, reason, remedy)
}

fn unread(source: Source, reason: &str, remedy: &str) -> Unread {
    Unread { source, reason: reason.to_owned(), remedy: remedy.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(error: &ProbeError, reason: &str, remedy: &str) {
        let found = refused(Source::CpuProfile, error);
        assert_eq!((found.reason.as_str(), found.remedy.as_str()), (reason, remedy));
    }

    #[test]
    fn a_reason_and_the_next_step() {
        let missing = vec!["CAP_BPF", "CAP_PERFMON"];
        check(
            &ProbeError::MissingCapabilities { missing, program: "/x".to_owned() },
            "CAP_BPF, CAP_PERFMON missing",
            "run it with sudo, or permit it to a group once: sudo scripts/install.sh GROUP",
        );
        check(
            &ProbeError::NoSuchProcess { pid: 7 },
            "no process with pid 7",
            "`pgrep -a beam.smp` lists the nodes of this machine",
        );
        let source = std::io::ErrorKind::PermissionDenied.into();
        check(
            &ProbeError::Io { action: "reading /proc/7/exe".to_owned(), source },
            "reading /proc/7/exe: permission denied",
            "run it with sudo, or permit it to a group once: sudo scripts/install.sh GROUP",
        );
        check(&ProbeError::NodeExited { pid: 7 }, "node 7 exited before the first sample", "");
    }
}
