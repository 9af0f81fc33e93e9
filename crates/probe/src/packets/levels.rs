//! The availability of the three levels, checked without capturing or loading anything.

use super::{
    error::PacketError,
    namespace::{NetworkNamespace, within},
    ports::PortSet,
    ring::may_capture,
    sockets::dump_sockets,
    writes::{has_tracepoints, may_load},
};
use crate::explain::Fact;

/// The port of AMQP. Any port would do: the check is that an answer comes.
const AMQP: u16 = 5672;

/// Checks each level: availability, or the reason against it and the remedy. The network is this process's, or that
/// of a container. No level is required; each shows what the others do not.
pub fn explain_packets(namespace: Option<&NetworkNamespace>) -> Vec<Fact> {
    vec![
        fact(
            "sockets (level 0)",
            sockets(namespace),
            "available: queues, windows, the sender's limit, retransmissions, sizes of segments",
        ),
        fact(
            "packets (level 1)",
            within(namespace, may_capture),
            "may be captured: frames, latencies between them, times of windows and acknowledgements",
        ),
        fact(
            "sizes of writes (level 2)",
            has_tracepoints().and_then(|()| may_load()),
            "can be counted in the kernel, without content",
        ),
    ]
}

fn sockets(namespace: Option<&NetworkNamespace>) -> Result<(), PacketError> {
    let ports = PortSet::new([AMQP])?;
    dump_sockets(&ports, namespace, 0).map(drop)
}

fn fact(subject: &'static str, result: Result<(), PacketError>, there: &str) -> Fact {
    let is_met = result.is_ok();
    let found = result.map_or_else(|error| error.to_string(), |()| there.to_owned());
    Fact { what: subject, is_met, is_needed: false, found }
}

#[cfg(test)]
mod tests {
    use super::explain_packets;

    #[test]
    fn every_level_is_reported() {
        let facts = explain_packets(None);
        assert_eq!(facts.len(), 3);
        assert!(facts.iter().all(|fact| !fact.is_needed && !fact.found.is_empty()));
        assert!(facts[0].is_met, "{:?}", facts[0]);
    }
}
