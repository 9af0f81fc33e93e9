//! Why a fleet cannot do its work.

use rabbitscope_amqp::blocking::ClientError;
use rabbitscope_load::LoadError;
use thiserror::Error;

/// Why a fleet cannot do its work. Every message says what to do next.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FleetError {
    /// A name that queues cannot have.
    #[error("`{name}` is no name of a fleet: use up to 64 letters, digits, `-`, `_` and `.`")]
    Name {
        /// As typed.
        name: String,
    },
    /// The bus is the broker that gets the load.
    #[error(
        "the bus at {bus} and the broker under test at {broker} are the same ({evidence}): an overloaded broker \
         would not carry the fleet's messages any more. Name another RabbitMQ with --via; if these are two brokers, \
         give one another name (`rabbitmqctl set_cluster_name`)"
    )]
    SameBroker {
        /// Host and port.
        bus: String,
        /// Host and port.
        broker: String,
        /// What they have in common.
        evidence: String,
    },
    /// Another controller of this fleet is there.
    #[error(
        "fleet `{fleet}` has a controller already: wait for its end, or name another fleet with --fleet (here and for \
         the workers)"
    )]
    Taken {
        /// The fleet.
        fleet: String,
    },
    /// Workers are busy with a run that this controller does not go on with.
    #[error(
        "fleet `{fleet}` is busy with a run of scenario `{scenario}` of which the controller is gone: go on with it \
         (the same scenario, with --resume), or wait until its workers are done"
    )]
    Busy {
        /// The fleet.
        fleet: String,
        /// Name of the other scenario.
        scenario: String,
    },
    /// The run in the log is not the one that is to be gone on with.
    #[error(
        "the log of fleet `{fleet}` has a run of scenario `{scenario}` as it was resolved then, which is not this one: go \
         on with that one, or leave --resume out, and its log is thrown away"
    )]
    OtherRun {
        /// The fleet.
        fleet: String,
        /// Name of the other scenario.
        scenario: String,
    },
    /// Not enough workers came.
    #[error(
        "{came} of {wanted} workers came within {seconds} s: start `rabbitscope worker --via URI` on the machines that \
         are to put load on{refused}"
    )]
    Missing {
        /// Workers that are there.
        came: usize,
        /// Workers that were asked for.
        wanted: usize,
        /// How long they were awaited.
        seconds: u64,
        /// Those who came and cannot be used.
        refused: String,
    },
    /// A worker cannot begin.
    #[error("{worker} cannot begin: {reason}")]
    Worker {
        /// Who.
        worker: String,
        /// Its words.
        reason: String,
    },
    /// There is nothing for so many workers.
    #[error(
        "the scenario has {connections} connections, and a worker needs at least one: at most {connections} workers can \
         put its load on"
    )]
    TooMany {
        /// Connections of the scenario.
        connections: usize,
    },
    /// Told to stop before the load began.
    #[error("stopped before the load began")]
    Stopped,
    /// The bus cannot be reached.
    #[error("the bus: {0}")]
    Unreachable(#[source] LoadError),
    /// The connection to the bus broke.
    #[error("the connection to the bus broke while {doing}: {source}")]
    Broken {
        /// What we were doing.
        doing: &'static str,
        /// What happened.
        source: ClientError,
    },
    /// The broker under test.
    #[error(transparent)]
    Load(#[from] LoadError),
}

impl FleetError {
    /// What was asked for cannot be done as it stands: the program's exit code 2.
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::Name { .. }
                | Self::SameBroker { .. }
                | Self::OtherRun { .. }
                | Self::TooMany { .. }
        )
    }

    /// The bus or the workers are not there: the program's exit code 5.
    pub fn is_unreachable(&self) -> bool {
        match self {
            Self::Missing { .. } | Self::Broken { .. } => true,
            Self::Unreachable(error) => error.is_unreachable(),
            _ => false,
        }
    }
}
