//! The case, with all of its parts.

use std::time::Duration;

use rabbitscope_wire::report::PacketReport;

use super::{
    Amqp, Broker, CaptureEnd, Clients, Cpu, Flow, Host, Load, Part, PeerNode, Processes, Queues,
    Source, Turns, Unread, Vm, Waits,
};

/// Everything that was read of a node.
#[derive(Clone, Debug)]
pub struct Case {
    /// The node and the time of the check.
    pub subject: Subject,
    /// Figures and settings of the whole broker.
    pub broker: Part<Broker>,
    /// Schedulers and distribution of the Erlang VM.
    pub vm: Part<Vm>,
    /// Erlang processes, from inside the node.
    pub processes: Part<Processes>,
    /// Queues.
    pub queues: Part<Queues>,
    /// Connections, channels and their consumers.
    pub clients: Part<Clients>,
    /// Flow control.
    pub flow: Part<Flow>,
    /// CPU time by Erlang process and function, from samples.
    pub cpu: Part<Cpu>,
    /// Time off the CPU.
    pub waits: Part<Waits>,
    /// Packets and sockets.
    pub packets: Part<PacketReport>,
    /// The end of the capture, if it came before that of the check.
    pub capture_end: Option<CaptureEnd>,
    /// Clients that do one thing after the other. Absent if their packets were not read.
    pub turns: Option<Turns>,
    /// The machine and the control group of the node.
    pub host: Part<Host>,
    /// The load generator. Absent unless the case is a recorded run.
    pub load: Option<Load>,
    /// The broker over AMQP. Absent unless the user asked for it.
    pub amqp: Option<Part<Amqp>>,
}

/// The node and the time of a check.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Subject {
    /// Erlang name of the node; its address if the name is unknown.
    pub node: String,
    /// Process identifier, if the node is on this machine.
    pub pid: Option<u32>,
    /// Duration of the check.
    pub duration: Duration,
}

impl Case {
    /// Returns the broker over AMQP, if it was asked for and answered.
    pub fn over_amqp(&self) -> Option<&Amqp> {
        self.amqp.as_ref()?.as_ref().ok()
    }

    /// Returns the other node at the end of a TCP connection, both ends as `address:port`, this node's first.
    pub(crate) fn peer_between(&self, own: &str, other: &str) -> Option<&PeerNode> {
        self.vm.as_ref().ok()?.peer_between(own, other)
    }

    /// Returns a case of which nothing was read yet.
    pub fn unread(subject: Subject) -> Self {
        Self {
            subject,
            broker: Err(Unread::new(Source::Node)),
            vm: Err(Unread::new(Source::Node)),
            processes: Err(Unread::new(Source::Node)),
            queues: Err(Unread::new(Source::Node)),
            clients: Err(Unread::new(Source::Node)),
            flow: Err(Unread::new(Source::Node)),
            cpu: Err(Unread::new(Source::CpuProfile)),
            waits: Err(Unread::new(Source::OffCpuProfile)),
            packets: Err(Unread::new(Source::Packets)),
            capture_end: None,
            turns: None,
            host: Err(Unread::new(Source::Host)),
            load: None,
            amqp: None,
        }
    }
}
