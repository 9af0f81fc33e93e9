//! Ports of throwaway nodes, drawn at random and held while any process of the broker lives.
//!
//! Another user could take a drawn port before the node binds it, and would then receive the node's messages. So this
//! process binds each port first and shares it with the node through `SO_REUSEPORT`. The kernel lets a second socket
//! bind such a port only if both sockets have this option and the same owner (`socket(7)`). A socket that is bound but
//! does not listen receives no connections.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Read},
    net::{Ipv4Addr, SocketAddr},
    os::fd::OwnedFd,
    path::Path,
};

use rabbitscope_machine::sockets::listeners;
use serde::{Deserialize, Serialize};
use socket2::{Domain, Socket, Type};

use super::plugins::LISTENING;
use crate::BrokerError;

/// Ports of one node, all on 127.0.0.1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ports {
    pub(crate) amqp: u16,
    pub(crate) distribution: u16,
    /// The port mapper's port, which the nodes of a cluster share.
    pub(crate) epmd: u16,
    /// One port per entry of [`LISTENING`], in its order. RabbitMQ identifies a listener by its port: with port 0,
    /// which lets the kernel choose, it takes the second listener for the first.
    pub(super) plugins: [u16; LISTENING.len()],
}

/// Sockets that keep the ports of a broker from other users.
#[derive(Debug)]
pub(crate) struct HeldPorts {
    nodes: Vec<Socket>,
    /// The port mapper does not set `SO_REUSEPORT`, so its port is released before it starts.
    mapper: Option<Socket>,
}

impl Ports {
    /// Draws distinct ports for nodes that share a port mapper.
    pub(crate) fn draw(nodes: usize) -> Result<(Vec<Self>, HeldPorts), BrokerError> {
        let mut random = Random::open()?;
        let mut held = Vec::new();
        let (epmd, mapper) = exclusive_port(&mut random)?;
        let mut take = || -> Result<u16, BrokerError> {
            let (port, socket) = exclusive_port(&mut random)?;
            socket.set_reuse_port(true).map_err(BrokerError::io("share", port.to_string()))?;
            held.push(socket);
            Ok(port)
        };
        let mut ports_of_node = || -> Result<Self, BrokerError> {
            let (amqp, distribution) = (take()?, take()?);
            let mut plugins = [0; LISTENING.len()];
            for port in &mut plugins {
                *port = take()?;
            }
            Ok(Self { amqp, distribution, epmd, plugins })
        };
        let ports = (0..nodes).map(|_| ports_of_node()).collect::<Result<_, _>>()?;
        Ok((ports, HeldPorts { nodes: held, mapper: Some(mapper) }))
    }

    /// The port of the management plugin, when it is enabled.
    pub(crate) fn management(&self) -> u16 {
        self.plugins[0]
    }
}

impl HeldPorts {
    /// Releases the port mapper's port.
    pub(crate) fn release_mapper(&mut self) {
        self.mapper = None;
    }

    /// Copies of the sockets' descriptors, for the broker's own processes.
    pub(crate) fn descriptors(&self) -> io::Result<Vec<OwnedFd>> {
        self.nodes.iter().map(|socket| socket.try_clone().map(OwnedFd::from)).collect()
    }
}

/// Candidate ports, below those that the kernel gives to outgoing connections, which could take a port before the node
/// does. Ports are drawn at random, because two nodes that start together would otherwise try the same ones.
const RANGE: (u16, u16) = (10_000, 32_000);

/// Random tries before every port of the range is tried in turn. With half of the range taken, one start in a million
/// needs more.
const RANDOM_TRIES: usize = 20;

/// Finds a port of the range that no socket uses, and binds a socket to it.
fn exclusive_port(random: &mut Random) -> Result<(u16, Socket), BrokerError> {
    let (first, end) = RANGE;
    let size = end - first;
    let start = random.below(size)?;
    let at_random = (0..RANDOM_TRIES).map(|_| random.below(size)).collect::<Result<Vec<_>, _>>()?;
    let in_turn = (0..size).map(|step| (start + step) % size);
    for port in at_random.into_iter().chain(in_turn).map(|offset| first + offset) {
        match bind(port) {
            Ok(socket) => return Ok((port, socket)),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
            Err(error) => return Err(BrokerError::io("bind port", port.to_string())(error)),
        }
    }
    Err(BrokerError::NoFreePort { first, last: end - 1, holders: holders(first..end) })
}

/// Binds without `SO_REUSEADDR` and `SO_REUSEPORT`, so that the kernel refuses a port that any other socket uses.
fn bind(port: u16) -> io::Result<Socket> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, port)).into())?;
    Ok(socket)
}

/// Describes the listeners on these ports, counted by user, with the largest count first.
fn holders(ports: std::ops::Range<u16>) -> String {
    let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
    for listener in
        listeners().into_iter().filter(|listener| ports.contains(&listener.address.port()))
    {
        *counts.entry(listener.user).or_default() += 1;
    }
    let mut counts: Vec<(u32, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    let texts: Vec<String> =
        counts.iter().map(|(user, count)| format!("{count} of user {user}")).collect();
    if texts.is_empty() { "none listens".to_owned() } else { texts.join(", ") }
}

/// The kernel's random number generator.
struct Random(File);

const RANDOM_SOURCE: &str = "/dev/urandom";

impl Random {
    fn open() -> Result<Self, BrokerError> {
        let path = Path::new(RANDOM_SOURCE);
        File::open(path).map(Self).map_err(BrokerError::io("read", path))
    }

    fn below(&mut self, end: u16) -> Result<u16, BrokerError> {
        let mut bytes = [0; 4];
        self.0.read_exact(&mut bytes).map_err(BrokerError::io("read", RANDOM_SOURCE))?;
        Ok(u16::try_from(u32::from_le_bytes(bytes) % u32::from(end)).expect("below a u16"))
    }
}

#[cfg(test)]
mod tests {
    use std::{net::TcpListener, thread, time::Duration};

    use super::*;

    #[test]
    fn drawn_ports_differ() {
        let (nodes, _held) = Ports::draw(3).unwrap();
        let own = |node: &Ports| [&[node.amqp, node.distribution][..], &node.plugins[..]].concat();
        let mut all: Vec<u16> = nodes.iter().flat_map(own).chain([nodes[0].epmd]).collect();
        all.sort_unstable();
        assert!(all.windows(2).all(|pair| pair[0] < pair[1]), "{all:?}");
        assert!(nodes.iter().all(|node| node.epmd == nodes[0].epmd) && nodes.len() == 3);
    }

    #[test]
    fn a_held_port_is_bound_by_sockets_that_share_it_only() {
        let (nodes, held) = Ports::draw(1).unwrap();
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, nodes[0].amqp));
        // The standard library sets SO_REUSEADDR.
        TcpListener::bind(address).unwrap_err();
        let node = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        node.set_reuse_port(true).unwrap();
        node.bind(&address.into()).unwrap();
        node.listen(1).unwrap();
        drop(node);
        TcpListener::bind(address).unwrap_err();
        drop(held);
        // A process that another test starts has a copy until it executes its program.
        let is_free = || {
            thread::sleep(Duration::from_millis(10));
            TcpListener::bind(address).is_ok()
        };
        assert!((0..500).any(|_| is_free()));
    }

    #[test]
    fn a_shared_port_is_not_drawn_again() {
        let (nodes, _held) = Ports::draw(1).unwrap();
        assert_eq!(bind(nodes[0].amqp).unwrap_err().kind(), io::ErrorKind::AddrInUse);
    }

    #[test]
    fn holders_are_counted_by_user() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let own = rustix::process::geteuid().as_raw();
        assert_eq!(holders(port..port + 1), format!("1 of user {own}"));
        drop(listener);
        assert_eq!(holders(port..port + 1), "none listens");
    }
}
