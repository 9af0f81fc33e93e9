//! Errors of a fleet.

use rabbitscope_amqp::blocking::ClientError;
use rabbitscope_load::LoadError;
use rabbitscope_topology::TopologyError;
use thiserror::Error;

/// Error of a fleet. Every message gives the next step.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FleetError {
    /// Invalid name of a fleet.
    #[error("`{name}` is not a valid fleet name: use up to 64 letters, digits, `-`, `_` and `.`")]
    Name {
        /// Name as typed.
        name: String,
    },
    /// The bus is the broker under test.
    #[error(
        "the bus at {bus} and the broker under test at {broker} are the same ({evidence}): when overloaded, it would \
         block the fleet's messages. Give another RabbitMQ with --via; if these are two brokers, rename one \
         (`rabbitmqctl set_cluster_name`)"
    )]
    SameBroker {
        /// Host and port of the bus.
        bus: String,
        /// Host and port of the broker under test.
        broker: String,
        /// The address or cluster name that both have.
        evidence: String,
    },
    /// The fleet already has a controller.
    #[error(
        "fleet `{fleet}` already has a controller: wait for its end, or choose another fleet with --fleet (here and \
         for the workers)"
    )]
    Taken {
        /// The fleet.
        fleet: String,
    },
    /// Workers are busy with a run that this controller does not resume.
    #[error(
        "fleet `{fleet}` still works on a run of scenario `{scenario}` without a controller: resume the run (same \
         scenario, --resume), or wait until its workers are done"
    )]
    Busy {
        /// The fleet.
        fleet: String,
        /// Name of the other scenario.
        scenario: String,
    },
    /// The log has a run other than the one to resume.
    #[error(
        "fleet `{fleet}` has an unfinished run of a different scenario, `{scenario}`: resume that scenario, or omit \
         --resume to discard the unfinished run"
    )]
    OtherRun {
        /// The fleet.
        fleet: String,
        /// Name of the other scenario.
        scenario: String,
    },
    /// Too few workers arrived.
    #[error(
        "{came} of {wanted} workers joined within {seconds} s: start `rabbitscope worker --via URI` on the machines \
         that generate load{refused}"
    )]
    Missing {
        /// Number of workers that arrived.
        came: usize,
        /// Number of workers that the user asked for.
        wanted: usize,
        /// Seconds that the controller waited.
        seconds: u64,
        /// The workers that cannot be used, each with the reason.
        refused: String,
    },
    /// A worker cannot begin.
    #[error("{worker} cannot start: {reason}")]
    Worker {
        /// The worker's name in messages.
        worker: String,
        /// Reason as the worker gives it.
        reason: String,
    },
    /// There are more workers than connections.
    #[error(
        "the scenario has {connections} connections, and each worker needs at least one: use at most {connections} \
         workers"
    )]
    TooMany {
        /// Connections of the scenario.
        connections: usize,
    },
    /// The user stopped the run before the load began.
    #[error("stopped before the load began")]
    Stopped,
    /// The bus cannot be reached.
    #[error("the bus: {0}")]
    Unreachable(#[source] TopologyError),
    /// The bus did not store the start of the run.
    #[error(
        "the bus did not store the start of the run within {seconds} s: see whether it has an alarm of memory or disk \
         (`rabbitmq-diagnostics alarms`)"
    )]
    NotStored {
        /// Seconds that the controller waited.
        seconds: u64,
    },
    /// The connection to the bus broke.
    #[error("the connection to the bus broke while {doing}: {source}")]
    Broken {
        /// Action during which the connection broke.
        doing: &'static str,
        /// Error of the connection.
        source: ClientError,
    },
    /// Error from the load on the broker under test.
    #[error("{0}")]
    Load(#[from] LoadError),
    /// Error of the connection to the broker under test, or of its topology.
    #[error("{0}")]
    Topology(#[from] TopologyError),
}

impl FleetError {
    /// Returns true for a mistake in the request: exit code 2 of the program.
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::Name { .. }
                | Self::SameBroker { .. }
                | Self::OtherRun { .. }
                | Self::TooMany { .. }
        )
    }

    /// Returns true if the bus or workers are unreachable: exit code 5 of the program.
    pub fn is_unreachable(&self) -> bool {
        match self {
            Self::Missing { .. } | Self::NotStored { .. } | Self::Broken { .. } => true,
            Self::Unreachable(error) | Self::Topology(error) => error.is_unreachable(),
            Self::Load(error) => error.is_unreachable(),
            _ => false,
        }
    }
}
