//! The exit codes, and their errors.

use std::process::ExitCode;

use rabbitscope_amqp::UriError;
use rabbitscope_broker::BrokerError;
use rabbitscope_check::BaselineError;
use rabbitscope_erlang::ErlangError;
use rabbitscope_export::ExportError;
use rabbitscope_files::{WriteError, input::InputError};
use rabbitscope_fleet::FleetError;
use rabbitscope_http::ListenError;
use rabbitscope_inside::InsideError;
use rabbitscope_load::LoadError;
use rabbitscope_perftest::PerfTestError;
use rabbitscope_probe::{ErrorKind, ProbeError, packets::PacketError};
use rabbitscope_profiles::{FoldedError, PerfDataError, PerfScriptError, PprofError, UnknownValue};
use rabbitscope_runs::scenario::ScenarioError;
use rabbitscope_terminal::UsageError;
use rabbitscope_topology::TopologyError;

/// The result of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Success.
    Done = 0,
    /// A failure, an interruption or a missing result. The available results were shown or kept.
    Failed = 1,
    /// Wrong usage or scenario; nothing was done.
    Usage = 2,
    /// An expectation of the scenario was not met.
    ExpectationFailed = 3,
    /// The run is not valid: the client was the limit, or it was not steady.
    NotValid = 4,
    /// Broker or node not reachable.
    Unreachable = 5,
    /// Permission missing; the message names the capability.
    PermissionMissing = 6,
}

impl Exit {
    /// Returns the code for an error. The innermost cause with a code of its own decides.
    pub fn from_error(error: &anyhow::Error) -> Self {
        error.chain().find_map(Self::from_cause).unwrap_or(Self::Failed)
    }

    fn from_cause(cause: &(dyn std::error::Error + 'static)) -> Option<Self> {
        if is_usage(cause) {
            return Some(Self::Usage);
        }
        if let Some(InsideError::Erlang(error)) = cause.downcast_ref() {
            return Some(Self::from_inside(error));
        }
        if let Some(InsideError::Probe(error)) = cause.downcast_ref() {
            return Some(Self::of_kind(error.kind()));
        }
        if let Some(error) = cause.downcast_ref::<LoadError>() {
            return Some(match error {
                LoadError::Topology(error) => Self::from_topology(error),
                error if error.is_usage() => Self::Usage,
                _ => Self::Failed,
            });
        }
        if let Some(error) = cause.downcast_ref::<TopologyError>() {
            return Some(Self::from_topology(error));
        }
        if cause.downcast_ref::<WriteError>().is_some_and(WriteError::is_usage) {
            return Some(Self::Usage);
        }
        match cause.downcast_ref::<FleetError>() {
            Some(error) if error.is_usage() => return Some(Self::Usage),
            Some(error) if error.is_unreachable() => return Some(Self::Unreachable),
            _ => {}
        }
        if let Some(error) = cause.downcast_ref::<ErlangError>() {
            return Some(Self::from_inside(error));
        }
        if let Some(error) = cause.downcast_ref::<PacketError>() {
            return Some(Self::of_kind(error.kind()));
        }
        match cause.downcast_ref() {
            Some(BrokerError::Unknown { .. }) => return Some(Self::Unreachable),
            // These configurations cannot be run.
            Some(
                BrokerError::Exposed { .. }
                | BrokerError::Patch { .. }
                | BrokerError::Policy { .. }
                | BrokerError::Parameter { .. }
                | BrokerError::Reserved { .. }
                | BrokerError::NoInstallation { .. }
                | BrokerError::NoPlugin { .. }
                | BrokerError::Unreadable { .. },
            ) => return Some(Self::Usage),
            Some(BrokerError::RootNeeded { .. }) => return Some(Self::PermissionMissing),
            _ => {}
        }
        cause.downcast_ref::<ProbeError>().map(|error| Self::of_kind(error.kind()))
    }

    fn from_topology(error: &TopologyError) -> Self {
        match error {
            error if error.is_unreachable() => Self::Unreachable,
            error if error.is_usage() => Self::Usage,
            error if error.is_permission() => Self::PermissionMissing,
            _ => Self::Failed,
        }
    }

    fn of_kind(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::Permission => Self::PermissionMissing,
            ErrorKind::NodeNotFound => Self::Unreachable,
            ErrorKind::Unsupported | ErrorKind::Failed => Self::Failed,
        }
    }

    fn from_inside(error: &ErlangError) -> Self {
        match error.kind() {
            rabbitscope_erlang::ErrorKind::Usage => Self::Usage,
            rabbitscope_erlang::ErrorKind::Unreachable => Self::Unreachable,
            rabbitscope_erlang::ErrorKind::Failed => Self::Failed,
        }
    }
}

/// Returns whether a cause is an error of the command line or of a scenario.
fn is_usage(cause: &(dyn std::error::Error + 'static)) -> bool {
    cause.is::<UsageError>()
        || cause.is::<InputError>()
        || cause.is::<BaselineError>()
        || cause.is::<ScenarioError>()
        || cause.is::<UriError>()
        || cause.is::<PerfTestError>()
        || is_unknown_value(cause)
        || matches!(
            cause.downcast_ref(),
            Some(
                PacketError::NoInterface { .. }
                    | PacketError::PortCount { .. }
                    | PacketError::PortZero
            )
        )
        || matches!(cause.downcast_ref(), Some(ListenError::Usage(_)))
        || matches!(cause.downcast_ref(), Some(ExportError::File { .. }))
}

/// Returns whether the caller asked for a value that the file lacks.
fn is_unknown_value(cause: &(dyn std::error::Error + 'static)) -> bool {
    cause.is::<UnknownValue>()
        || matches!(cause.downcast_ref(), Some(PprofError::Value(_)))
        || matches!(cause.downcast_ref(), Some(PerfDataError::Value(_)))
        || matches!(cause.downcast_ref(), Some(PerfScriptError::Value(_)))
        || matches!(cause.downcast_ref(), Some(FoldedError::Value(_)))
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

#[cfg(test)]
mod tests {
    use anyhow::Context;

    use super::*;

    fn check(error: impl Into<anyhow::Error>, expected: Exit) {
        let error = Err::<(), _>(error.into()).context("while testing").unwrap_err();
        assert_eq!(Exit::from_error(&error), expected, "{error:#}");
    }

    fn of_agent(kind: &str) -> ErlangError {
        let (node, kind) = ("a@b".to_owned(), kind.to_owned());
        ErlangError::Agent { node, kind, text: String::new() }
    }

    #[test]
    fn each_family_has_its_code() {
        check(anyhow::anyhow!("anything"), Exit::Failed);
        check(UsageError("no".to_owned()), Exit::Usage);
        check(UriError::Scheme, Exit::Usage);
        check(PerfTestError::CommandLine(String::new()), Exit::Usage);
        check(ListenError::Usage(String::new()), Exit::Usage);
        check(InsideError::Probe(ProbeError::NoSuchProcess { pid: 1 }), Exit::Unreachable);
        let nobody =
            TopologyError::Unreachable { address: "h:1".to_owned(), reason: String::new() };
        check(nobody, Exit::Unreachable);
        check(TopologyError::ExternalWithoutTls, Exit::Usage);
        check(TopologyError::QueueMissing { queue: "q".to_owned() }, Exit::Failed);
        check(ProbeError::NoSuchProcess { pid: 1 }, Exit::Unreachable);
        check(ProbeError::InterpreterOnly { pid: 1 }, Exit::Failed);
        let lost = ErlangError::Lost { node: "a@b".to_owned(), reason: String::new() };
        check(lost, Exit::Unreachable);
        check(ErlangError::Name { name: String::new(), reason: "" }, Exit::Usage);
        check(ErlangError::TlsFiles { reason: String::new() }, Exit::Usage);
        check(of_agent("no_such_role"), Exit::Usage);
        check(of_agent("bad_pattern"), Exit::Usage);
        check(of_agent("no_such_process"), Exit::Failed);
        check(FleetError::NotStored { seconds: 10 }, Exit::Unreachable);
        let nobody =
            TopologyError::Unreachable { address: "h:1".to_owned(), reason: String::new() };
        check(FleetError::Topology(nobody), Exit::Unreachable);
        check(FleetError::Topology(TopologyError::ExternalWithoutTls), Exit::Usage);
        check(BrokerError::Exposed { addresses: String::new() }, Exit::Usage);
        let program = String::new();
        check(
            ProbeError::MissingCapabilities { missing: vec![], program },
            Exit::PermissionMissing,
        );
    }
}
