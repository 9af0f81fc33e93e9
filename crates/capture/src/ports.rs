//! The TCP ports of a broker: those on which it listens, and those from which it connects.

use rabbitscope_probe::packets::{MAX_PORTS, PacketError, PortSet};

/// The TCP ports of a broker.
#[derive(Clone, Debug)]
pub struct BrokerPorts {
    listening: PortSet,
    all: PortSet,
}

impl BrokerPorts {
    /// Creates the ports of a broker that only listens. Fails without a port, with too many, and with port 0.
    pub fn new(listening: impl IntoIterator<Item = u16>) -> Result<Self, PacketError> {
        let listening = PortSet::new(listening)?;
        Ok(Self { all: listening.clone(), listening })
    }

    /// Adds ports from which the broker connects, as far as there is room. Their sockets are watched, their packets not.
    #[must_use]
    pub fn with_outgoing(mut self, outgoing: impl IntoIterator<Item = u16>) -> Self {
        let room = MAX_PORTS - self.listening.as_slice().len();
        let outgoing = outgoing.into_iter().filter(|port| *port > 0).take(room);
        let all = self.listening.as_slice().iter().copied().chain(outgoing);
        if let Ok(all) = PortSet::new(all) {
            self.all = all;
        }
        self
    }

    /// Returns the ports on which it listens.
    pub(crate) const fn listening(&self) -> &PortSet {
        &self.listening
    }

    /// Returns all ports.
    pub(crate) const fn all(&self) -> &PortSet {
        &self.all
    }

    /// Returns whether the broker connects from this port. A client of the broker may use the same number.
    pub(crate) fn is_outgoing(&self, local: u16, remote: u16) -> bool {
        self.all.contains(local)
            && !self.listening.contains(local)
            && !self.listening.contains(remote)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_from_which_a_broker_connects_are_bounded() {
        let ports = BrokerPorts::new([5672, 25_672]).unwrap().with_outgoing([0, 40_000, 5672]);
        assert_eq!(ports.listening().as_slice(), [5672, 25_672]);
        assert_eq!(ports.all().as_slice(), [5672, 25_672, 40_000]);
        assert!(ports.is_outgoing(40_000, 25_673) && !ports.is_outgoing(40_000, 5672));
        assert!(!ports.is_outgoing(5672, 40_001) && !ports.is_outgoing(1, 2));
        let many = BrokerPorts::new([5672]).unwrap().with_outgoing(10_000..20_000);
        assert_eq!(many.all().as_slice().len(), MAX_PORTS);
        assert!(BrokerPorts::new([]).is_err());
    }
}
