//! Everything that a check read of a node, part by part.
//!
//! Each part was read, or it states the reason and the remedy. Rates are means over the time of the part.

mod amqp;
mod broker;
mod clients;
mod cpu;
mod flow;
mod host;
mod load;
mod packets;
mod part;
mod processes;
mod queues;
mod vm;
mod waits;
mod whole;

pub use amqp::{Amqp, AmqpQueue, QueueState, RoundTrips};
pub use broker::{Broker, Churn, MessageRates, Settings, Use};
pub use clients::{ChannelCase, Clients, ConnectionCase};
pub use cpu::{Cpu, FunctionCpu, OwnerCpu, OwnerKind, ProcessCpu, ThreadCpu};
pub use flow::{Blocker, Flow, FlowProcess};
pub use host::{Disk, Host, Neighbour};
pub use load::{Load, LoadConsumers};
pub use packets::CaptureEnd;
pub use part::{Part, Source, Unread};
pub use processes::{ErlangProcess, Processes};
pub use queues::{QueueCase, QueueKind, Queues};
pub use vm::{PeerNode, Vm};
pub use waits::{ProcessWaits, WaitedIn, Waits};
pub use whole::{Case, Subject};

pub(crate) use rabbitscope_wire::turns::{
    Answer, BusyReader, PolledQueue, Turns, WaitingPublisher,
};
