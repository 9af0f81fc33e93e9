//! Opens a connection: address, port, TLS, handshake, tick time, link.

use std::{
    collections::hash_map::RandomState,
    hash::{BuildHasher, Hasher},
    net::{Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs},
    sync::{Arc, atomic::Ordering, mpsc},
    thread,
    time::{Duration, Instant},
};

use mio::{Poll, Waker};
use rustls::ClientConfig;

use super::{
    ConnectOptions, Connection, Peer, Port,
    link::{self, Link},
    switchboard::Switchboard,
    tls,
    wire::{Stream, Wire},
};
use crate::{
    Cookie, ErlangError, NodeName,
    distribution::{Prefix, Timed, Visitor, shake_hands},
    epmd,
};

/// Timeout of a call without work on the node. Only a saturated node takes longer than milliseconds.
const CALL_TIMEOUT: Duration = Duration::from_secs(5);

impl Connection {
    /// Opens a connection, and tries several cookies one after another.
    ///
    /// # Example
    /// ```no_run
    /// use std::time::Duration;
    /// use rabbitscope_erlang::{ConnectOptions, Connection, NodeName, Term};
    /// let options = ConnectOptions::new(NodeName::parse("rabbit@localhost")?);
    /// let connection = Connection::open(&options)?;
    /// let release = connection.call(
    ///     "erlang", "system_info", vec![Term::atom("otp_release")], Duration::from_secs(1))?;
    /// # Ok::<(), rabbitscope_erlang::ErlangError>(())
    /// ```
    pub fn open(options: &ConnectOptions) -> Result<Self, ErlangError> {
        let connection = open_in_network(options)?;
        connection.learn_tick_time()?;
        Ok(connection)
    }

    /// Reads the tick time of the node, after which a silent node counts as lost.
    fn learn_tick_time(&self) -> Result<(), ErlangError> {
        let asked = "net_kernel:get_net_ticktime/0";
        let answer = self.call("net_kernel", "get_net_ticktime", Vec::new(), CALL_TIMEOUT)?;
        // The answer is `{ongoing_change_to, Seconds}` during a change.
        let seconds = answer.as_u64().or_else(|| answer.as_tuple()?.get(1)?.as_u64());
        let seconds = seconds.ok_or_else(|| ErlangError::unexpected(asked, &answer))?;
        self.shared.silence_ms.store(seconds.max(1) * 1000, Ordering::Relaxed);
        Ok(())
    }
}

fn open_in_network(options: &ConnectOptions) -> Result<Connection, ErlangError> {
    let Some(network) = &options.network else { return open_with_cookies(options) };
    let mut opened = None;
    let entered = network.run(&mut || opened = Some(open_with_cookies(options)));
    let failed = |reason| ErlangError::NoNetwork { node: options.node.to_string(), reason };
    entered.map_err(failed)?;
    opened.expect("a network that was entered runs the function")
}

fn open_with_cookies(options: &ConnectOptions) -> Result<Connection, ErlangError> {
    let deadline = Instant::now() + options.within;
    let tls = options.tls.as_ref().map(tls::read).transpose()?;
    let cookies = options.cookie.cookies()?;
    let mut refused = None;
    for cookie in &cookies {
        match open_as_visitor(options, tls.as_ref(), cookie, deadline) {
            Err(error @ (ErlangError::CookieRefused { .. } | ErlangError::Impostor { .. })) => {
                refused = Some(error);
            }
            done => return done,
        }
    }
    Err(refused.expect("there is at least one cookie"))
}

/// Opens a connection under a random name, and tries further names while the node knows the name.
fn open_as_visitor(
    options: &ConnectOptions,
    tls: Option<&Arc<ClientConfig>>,
    cookie: &Cookie,
    deadline: Instant,
) -> Result<Connection, ErlangError> {
    for _ in 0..3 {
        match open_with(options, tls, cookie, deadline) {
            Err(ErlangError::NameTaken { .. }) => {}
            done => return done,
        }
    }
    open_with(options, tls, cookie, deadline)
}

fn open_with(
    options: &ConnectOptions,
    tls: Option<&Arc<ClientConfig>>,
    cookie: &Cookie,
    deadline: Instant,
) -> Result<Connection, ErlangError> {
    let node = &options.node;
    let resolved = |port| addresses(options, port, deadline).and_then(|all| verified(options, all));
    let (address, addresses) = match options.port {
        Port::At(address) => (address.to_string(), verified(options, vec![address])?),
        Port::Fixed(port) => (format!("{}:{port}", node.host()), resolved(port)?),
        Port::Mapped(mapper) => {
            let port = epmd::port_of(node, &resolved(mapper)?, deadline)?;
            (format!("{}:{port}", node.host()), resolved(port)?)
        }
    };
    let timed = Timed::connect(&addresses, deadline).map_err(|error| ErlangError::Refused {
        node: node.to_string(),
        address,
        reason: error.to_string(),
    })?;
    let lost = |error: std::io::Error| ErlangError::Lost {
        node: node.to_string(),
        reason: error.to_string(),
    };
    let (own, other) = timed.ends().map_err(lost)?;
    let (mut stream, prefix) = match tls {
        None => (Stream::Plain(timed), Prefix::TwoBytes),
        Some(config) => {
            let secured = tls::secured(timed, node, Arc::clone(config))?;
            (Stream::Tls(Box::new(secured)), Prefix::FourBytes)
        }
    };
    let visitor = visitor(node);
    let verify = || match &options.verify {
        Some(verify) => {
            verify.peer(&Peer { own, other, cookie }).map_err(|reason| impostor(node, reason))
        }
        None => Ok(()),
    };
    shake_hands(&mut stream, prefix, node, &visitor, cookie, &verify)?;
    start(stream, options, &visitor, cookie).map_err(lost)
}

fn impostor(node: &NodeName, reason: String) -> ErlangError {
    ErlangError::Impostor { node: node.to_string(), reason }
}

/// Returns the addresses, if the verifier accepts them.
fn verified(
    options: &ConnectOptions,
    addresses: Vec<SocketAddr>,
) -> Result<Vec<SocketAddr>, ErlangError> {
    if let Some(verify) = &options.verify {
        let each = addresses.iter().map(|address| verify.address(address.ip()));
        each.collect::<Result<(), _>>().map_err(|reason| impostor(&options.node, reason))?;
    }
    Ok(addresses)
}

fn start(
    stream: Stream,
    options: &ConnectOptions,
    visitor: &Visitor,
    cookie: &Cookie,
) -> std::io::Result<Connection> {
    let mut wire = Wire::new(stream)?;
    let poll = Poll::new()?;
    let waker = Waker::new(poll.registry(), link::WOKEN)?;
    link::register(&poll, &mut wire)?;
    let (sender, commands) = mpsc::channel();
    let shared = Arc::new(Switchboard::new(
        options.node.to_string(),
        &visitor.name,
        visitor.creation,
        sender,
        waker,
    ));
    let link = Link::new(wire, poll, commands, Arc::clone(&shared));
    let link = thread::Builder::new().name("erlang-link".to_owned()).spawn(|| link.run())?;
    let (link, cookie) = (Some(link), cookie.clone());
    Ok(Connection { shared, link, dead_man: options.dead_man, cookie })
}

/// Makes the identity of a hidden node. Two on one machine have different names.
fn visitor(node: &NodeName) -> Visitor {
    Visitor {
        name: node.visitor(&unique("rabbitscope-")).to_string(),
        // The values 0 to 3 once had a special meaning.
        creation: random_u32() | 4,
        challenge: random_u32(),
    }
}

/// Appends 64 random bits to a name. The node detects a name that is taken, and the caller draws another. The length
/// does not matter to the node's table of atoms, in which each name has one entry.
pub(crate) fn unique(name: &str) -> String {
    format!("{name}{:016x}", random_u64())
}

/// Takes random bits from a hash map's keys, which the system's randomness provides.
fn random_u64() -> u64 {
    RandomState::new().build_hasher().finish()
}

fn random_u32() -> u32 {
    u32::try_from(random_u64() >> 32).expect("half of it")
}

/// Returns the addresses of the node's host. A name means nothing in another network.
fn addresses(
    options: &ConnectOptions,
    port: u16,
    deadline: Instant,
) -> Result<Vec<SocketAddr>, ErlangError> {
    if options.network.is_some() {
        return Ok(vec![
            SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port),
            SocketAddr::new(Ipv6Addr::LOCALHOST.into(), port),
        ]);
    }
    resolve(&options.node, port, deadline)
}

/// Resolves the host within the deadline, in a thread, because the resolver has no deadline of its own.
fn resolve(node: &NodeName, port: u16, deadline: Instant) -> Result<Vec<SocketAddr>, ErlangError> {
    let failed = |reason: String| ErlangError::Unresolvable { node: node.to_string(), reason };
    let (sender, answer) = mpsc::channel();
    let host = node.host().to_owned();
    thread::spawn(move || {
        let found = (host.as_str(), port).to_socket_addrs().map(Iterator::collect::<Vec<_>>);
        let _ = sender.send(found);
    });
    let left = deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
    match answer.recv_timeout(left) {
        Ok(Ok(addresses)) => Ok(addresses),
        Ok(Err(error)) => Err(failed(error.to_string())),
        Err(_) => Err(failed("no answer in time".to_owned())),
    }
}
