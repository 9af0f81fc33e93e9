//! The address of the bus, and the check that it is not the broker under test.

use std::{
    collections::BTreeSet,
    net::{SocketAddr, ToSocketAddrs},
};

use rabbitscope_amqp::Uri;
use rabbitscope_runs::record::BrokerFacts;
use rabbitscope_topology::Dialer;

use crate::error::FleetError;

/// Address of the bus.
#[derive(Clone, Debug)]
pub struct BusAddress {
    pub(crate) dialer: Dialer,
}

impl BusAddress {
    /// Wraps the dialer that reaches the bus.
    pub fn new(dialer: Dialer) -> Self {
        Self { dialer }
    }

    /// Host and port.
    pub(crate) fn text(&self) -> String {
        self.dialer.uri().address()
    }

    /// Refuses a bus that is the broker under test, by its address or by the name of its cluster.
    pub(crate) fn refuse_as(
        &self,
        bus_cluster: &str,
        broker: &BrokerFacts,
        broker_uris: &[Uri],
    ) -> Result<(), FleetError> {
        let same = |evidence: String| {
            Err(FleetError::SameBroker {
                bus: self.text(),
                broker: broker.address.clone(),
                evidence,
            })
        };
        let bus = addresses(self.dialer.uri());
        if let Some(address) = broker_uris.iter().flat_map(addresses).find(|own| bus.contains(own))
        {
            return same(format!("both are at {address}"));
        }
        if !bus_cluster.is_empty() && bus_cluster == broker.cluster_name {
            return same(format!("both are cluster `{bus_cluster}`"));
        }
        Ok(())
    }
}

/// All addresses that the host name resolves to; none if it does not resolve, which connecting then reports.
fn addresses(uri: &Uri) -> BTreeSet<SocketAddr> {
    (uri.host.as_str(), uri.port).to_socket_addrs().into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_broker_under_test_is_no_bus() {
        fn check(bus: (&str, &str), broker: (&str, &str), expected: Option<&str>) {
            let address = BusAddress::new(Dialer::to(Uri::parse(bus.0).unwrap()));
            let facts = BrokerFacts { cluster_name: broker.1.to_owned(), ..BrokerFacts::default() };
            let refused = address.refuse_as(bus.1, &facts, &[Uri::parse(broker.0).unwrap()]);
            let said = refused.err().map(|error| error.to_string());
            assert_eq!(said.is_some(), expected.is_some(), "{said:?}");
            assert!(said.unwrap_or_default().contains(expected.unwrap_or_default()));
        }
        let (one, other) = ("amqp://127.0.0.1:5672", "amqp://127.0.0.1:5673");
        check((one, "a"), (one, "b"), Some("both are at 127.0.0.1:5672"));
        check((one, "a"), ("amqp://u:p@localhost:5672/v", "b"), Some("both are at 127.0.0.1"));
        check((one, "rabbit@h"), (other, "rabbit@h"), Some("cluster `rabbit@h`"));
        check((one, ""), (other, ""), None);
        check((one, "a"), (other, "b"), None);
    }
}
