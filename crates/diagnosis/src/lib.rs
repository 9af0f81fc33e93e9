//! The limit of a node's throughput, and findings about it.
//!
//! ```text
//! case ──► flow ──► limit   the one thing that limits throughput or latency now, or the reason why none can be told
//!   │                   │
//!   ├────► rules ───────┴──► report   what a person or a program reads
//!   ├────► costs, memory ───┤      CPU time by owner, memory by kind
//!   └────► figures ─────────┘  ├──► differences   between two reports
//!                              └──► experiments   files that prove a finding on a throwaway broker
//! ```
//!
//! Everything here is a function of a [`Case`]. The `check` crate reads one from a node.

mod case;
mod costs;
mod differences;
mod experiments;
mod figures;
mod finding;
mod flow;
mod limit;
mod memory;
mod report;
mod rules;
mod starvation;

pub use case::Case;
pub use case::{
    Amqp, AmqpQueue, Blocker, Broker, CaptureEnd, ChannelCase, Churn, Clients, ConnectionCase, Cpu,
    Disk, ErlangProcess, Flow, FlowProcess, FunctionCpu, Host, Load, LoadConsumers, MessageRates,
    Neighbour, OwnerCpu, OwnerKind, Part, PeerNode, ProcessCpu, ProcessWaits, Processes, QueueCase,
    QueueKind, QueueState, Queues, RoundTrips, Settings, Source, Subject, ThreadCpu, Unread, Use,
    Vm, WaitedIn, Waits,
};
pub use costs::{Cost, Costs};
pub use differences::{Difference, DifferenceKind, Differences, Noise, compare};
pub use experiments::{BaseScenario, ExperimentFile, experiments};
pub use figures::{
    ClientFigure, ClientRate, Figures, FunctionFigure, METRICS, Metric, ProcessFigure,
    ThreadFigure, Variation,
};
pub use finding::{Bound, Change, Evidence, Finding, Severity};
pub use flow::{ChainLink, FlowChain, FlowRoot};
pub use limit::{Candidate, Certainty, Limit, LimitKind};
pub use memory::Memory;
pub use report::{Brief, BriefFinding, CheckReport, ClusterReport, FORMAT_VERSION, MissingMember};
pub use rules::{
    Attribution, Judgement, QueueShare, Unjudged, attribute, judge, queue_title, reference,
};
