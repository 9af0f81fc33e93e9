//! Creation of connections: the order of the addresses, sockets, TLS, login.

use std::{
    io,
    net::{SocketAddr, TcpStream, ToSocketAddrs},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use rabbitscope_amqp::{
    Mechanism, Uri,
    blocking::{Client, ClientError},
};
use rabbitscope_runs::scenario::{Allocation, Auth, BrokerSpec, Connecting};
use rustls::{ClientConfig, pki_types::ServerName};
use socket2::{Domain, Protocol, Socket, Type};

use super::{
    control_stream::{ControlClient, ControlStream},
    errors::dial_error,
    stream::Stream,
    tls::tls_config,
    token::TokenFile,
};
use crate::error::TopologyError;

/// Interval between attempts to reach a broker that is starting. Chosen: a broker starts within seconds.
const STARTUP_POLL_INTERVAL: Duration = Duration::from_millis(250);

/// The addresses of the broker, and the settings of connections to them.
#[derive(Clone, Debug)]
pub struct Dialer {
    uris: Vec<Uri>,
    seed: u64,
    connecting: Connecting,
    /// True if a connection that fails at one address is tried at the others.
    has_alternatives: bool,
    /// Present when an address needs TLS.
    tls: Option<Arc<ClientConfig>>,
    /// Present where a token logs in.
    token: Option<TokenFile>,
}

/// The failure to reach any address: the error of the last one that was tried.
#[derive(Debug)]
pub struct Unanswered<'a> {
    /// The last address that was tried.
    pub uri: &'a Uri,
    /// Its error.
    pub error: ClientError,
}

impl Dialer {
    /// Creates a dialer for one broker without TLS, with the defaults of a scenario.
    pub fn to(uri: Uri) -> Self {
        let connecting = Connecting::default();
        Self {
            uris: vec![uri],
            seed: 1,
            connecting,
            has_alternatives: true,
            tls: None,
            token: None,
        }
    }

    /// Creates a dialer for the broker of a scenario. Reads certificates, keys and tokens, but opens no connection.
    /// `seed` serves the random choice of addresses.
    pub fn new(
        mut uris: Vec<Uri>,
        connecting: &Connecting,
        seed: u64,
    ) -> Result<Self, TopologyError> {
        let needs_tls = uris.iter().any(|uri| uri.is_tls);
        let is_external = connecting.auth == Auth::External;
        if uris.is_empty() || is_external && !uris.iter().all(|uri| uri.is_tls) {
            return Err(TopologyError::ExternalWithoutTls);
        }
        let token = match &connecting.auth {
            Auth::Token { file } => Some(TokenFile::open(file)?),
            Auth::Plain | Auth::External | Auth::Anonymous => None,
        };
        let mechanism = match connecting.auth {
            Auth::Plain | Auth::Token { .. } => Mechanism::Plain,
            Auth::External => Mechanism::External,
            Auth::Anonymous => Mechanism::Anonymous,
        };
        for uri in &mut uris {
            uri.mechanism = mechanism;
        }
        let tls = needs_tls.then(|| tls_config(&connecting.tls)).transpose()?;
        let connecting = connecting.clone();
        Ok(Self { uris, seed, connecting, has_alternatives: true, tls, token })
    }

    /// Pins each connection to its own address if `broker` is several independent brokers. Other addresses are then not
    /// tried.
    #[must_use]
    pub fn for_broker(self, broker: &BrokerSpec) -> Self {
        Self { has_alternatives: !broker.is_several_brokers(), ..self }
    }

    /// Returns a dialer for each of the other addresses, in order.
    pub fn others(&self) -> Vec<Self> {
        let one = |uri: &Uri| Self { uris: vec![uri.clone()], ..self.clone() };
        self.uris[1..].iter().map(one).collect()
    }

    /// Returns the token that logs in, if one does.
    pub fn token(&self) -> Option<&TokenFile> {
        self.token.as_ref()
    }

    /// Returns an address with the token that its file has now, or had last.
    pub(super) fn current(&self, uri: &Uri) -> Uri {
        let mut uri = uri.clone();
        if let Some(token) = &self.token {
            uri.set_token(&token.latest());
        }
        uri
    }

    /// The first address.
    pub fn uri(&self) -> &Uri {
        &self.uris[0]
    }

    /// The timeout of each step of opening and closing a connection.
    pub(super) fn timeout(&self) -> Duration {
        self.connecting.timeout
    }

    /// Longest time to make a connection, or to learn that it is impossible. It covers the connection, TLS and login at
    /// each address.
    pub fn longest_dial(&self) -> Duration {
        let addresses = u32::try_from(self.uris.len()).unwrap_or(u32::MAX);
        self.timeout().saturating_mul(3).saturating_mul(addresses)
    }

    /// Longest wait for the broker's agreement to close a connection.
    pub fn longest_close(&self) -> Duration {
        self.timeout()
    }

    /// Waits until the broker answers. Returns at once if the scenario does not ask for this wait.
    pub fn wait_for_broker(&self, stop: &AtomicBool) -> Result<(), TopologyError> {
        let Some(limit) = self.connecting.startup_timeout else { return Ok(()) };
        let began = Instant::now();
        loop {
            let failed = match self.dial("rabbitscope waiting", 0) {
                Ok((client, _)) => return client.close().or(Ok(())),
                Err(failed) => dial_error(failed.uri, failed.error),
            };
            let is_over = began.elapsed() >= limit || stop.load(Ordering::Relaxed);
            if is_over || !failed.may_pass() {
                return Err(failed);
            }
            thread::sleep(STARTUP_POLL_INTERVAL);
        }
    }

    /// Connects and logs in. `number` is the number of the connection. It decides which address is tried first.
    pub fn dial(
        &self,
        name: &str,
        number: usize,
    ) -> Result<(Client<Stream>, &Uri), Unanswered<'_>> {
        self.first_answer(number, |uri| self.connect(uri, name))
    }

    /// Logs in with a token, and closes the connection at once. Returns the broker's refusal; `None` if it takes the
    /// token, or does not answer.
    pub fn refusal_of(&self, token: &str) -> Option<TopologyError> {
        let mut refusal = None;
        for uri in self.order(0) {
            let mut uri = uri.clone();
            uri.set_token(token);
            match self.connect(&uri, "rabbitscope token") {
                Ok(client) => {
                    client.close().ok();
                    return None;
                }
                Err(error) => refusal = Some(dial_error(&uri, error)),
            }
        }
        refusal.filter(TopologyError::is_permission)
    }

    /// Opens a connection that carries no load, with heartbeats at this interval in seconds.
    pub fn client(
        &self,
        name: &str,
        heartbeat_seconds: u16,
    ) -> Result<ControlClient, TopologyError> {
        let answer = self.first_answer(0, |uri| {
            let mut uri = uri.clone();
            uri.heartbeat_seconds = Some(heartbeat_seconds);
            let refused = |source| ClientError::Connect { address: uri.address(), source };
            let stream = ControlStream::new(self.open(&uri).map_err(refused)?);
            Client::log_in(stream, &uri, name, self.timeout())
        });
        answer.map(|(client, _)| client).map_err(|failed| dial_error(failed.uri, failed.error))
    }

    /// Does the same as [`Dialer::dial`], without heartbeats, for a connection that is idle while the load runs.
    pub fn dial_idle(
        &self,
        name: &str,
        number: usize,
    ) -> Result<(Client<Stream>, &Uri), Unanswered<'_>> {
        self.first_answer(number, |uri| {
            let mut uri = uri.clone();
            uri.heartbeat_seconds = Some(0);
            self.connect(&uri, name)
        })
    }

    fn first_answer<C>(
        &self,
        number: usize,
        connect: impl Fn(&Uri) -> Result<C, ClientError>,
    ) -> Result<(C, &Uri), Unanswered<'_>> {
        let mut last = None;
        for uri in self.order(number) {
            match connect(&self.current(uri)) {
                Ok(client) => return Ok((client, uri)),
                Err(error) => last = Some(Unanswered { uri, error }),
            }
        }
        Err(last.expect("there is at least one address"))
    }

    /// Returns the addresses in the order in which a connection tries them.
    pub(super) fn order(&self, number: usize) -> impl Iterator<Item = &Uri> {
        let count = self.uris.len();
        let first = match self.connecting.allocation {
            Allocation::RoundRobin => number,
            Allocation::Random => scattered(self.seed, number),
        };
        let tried = if self.has_alternatives { count } else { 1 };
        (0..tried).map(move |step| &self.uris[first.wrapping_add(step) % count])
    }

    fn connect(&self, uri: &Uri, name: &str) -> Result<Client<Stream>, ClientError> {
        let refused = |source| ClientError::Connect { address: uri.address(), source };
        let stream = self.open(uri).map_err(refused)?;
        Client::log_in(stream, uri, name, self.timeout())
    }

    pub(super) fn open(&self, uri: &Uri) -> io::Result<Stream> {
        let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
        for address in (uri.host.as_str(), uri.port).to_socket_addrs()? {
            match self.open_at(address) {
                Ok(tcp) => return self.wrap(tcp, uri),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    fn open_at(&self, address: SocketAddr) -> io::Result<TcpStream> {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
        // Set before connecting, which fixes the scale of the window.
        if let Some(bytes) = self.connecting.send_buffer_bytes {
            socket.set_send_buffer_size(bytes as usize)?;
        }
        if let Some(bytes) = self.connecting.receive_buffer_bytes {
            socket.set_recv_buffer_size(bytes as usize)?;
        }
        socket.connect_timeout(&address.into(), self.timeout())?;
        let tcp = TcpStream::from(socket);
        tcp.set_nodelay(self.connecting.nodelay)?;
        tcp.set_read_timeout(Some(self.timeout()))?;
        tcp.set_write_timeout(Some(self.timeout()))?;
        Ok(tcp)
    }

    fn wrap(&self, tcp: TcpStream, uri: &Uri) -> io::Result<Stream> {
        let Some(config) = self.tls.as_ref().filter(|_| uri.is_tls) else {
            return Ok(Stream::Plain(tcp));
        };
        let name = self.connecting.tls.server_name.as_ref().unwrap_or(&uri.host);
        let name = ServerName::try_from(name.clone()).map_err(|_| {
            let reason = format!("`{name}` is not a valid name for a certificate");
            io::Error::new(io::ErrorKind::InvalidInput, reason)
        })?;
        Stream::over_tls(tcp, Arc::clone(config), name)
    }
}

/// Returns a pseudo-random number for each connection (splitmix64).
fn scattered(seed: u64, number: usize) -> usize {
    let mut mixed = seed.wrapping_add((number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    // The value is below 2^31 and fits into an index of any platform.
    usize::try_from(mixed >> 33).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::scenario::ThrowawayBroker;

    use super::*;

    #[test]
    fn connections_are_scattered_over_the_addresses() {
        let mut hits = [0; 3];
        for number in 0..3000 {
            hits[scattered(7, number) % 3] += 1;
        }
        assert!(hits.iter().all(|count| (900..1100).contains(count)), "{hits:?}");
        assert_ne!(scattered(7, 0), scattered(8, 0));
    }

    #[test]
    fn of_several_brokers_each_connection_has_its_own() {
        let uris = ["amqp://a", "amqp://b", "amqp://c"].map(|uri| Uri::parse(uri).unwrap());
        let dialer = Dialer::new(uris.to_vec(), &Connecting::default(), 1).unwrap();
        let tried = |dialer: &Dialer| {
            let hosts = std::cell::RefCell::new(Vec::new());
            let refuse = |uri: &Uri| {
                hosts.borrow_mut().push(uri.host.clone());
                let source = io::Error::from(io::ErrorKind::ConnectionRefused);
                Err::<(), _>(ClientError::Connect { address: uri.address(), source })
            };
            dialer.first_answer(4, refuse).unwrap_err();
            hosts.into_inner()
        };
        assert_eq!(tried(&dialer), ["b", "c", "a"]);
        let several = ThrowawayBroker { nodes: 3, is_cluster: false, ..ThrowawayBroker::default() };
        assert_eq!(tried(&dialer.for_broker(&BrokerSpec::Throwaway(several))), ["b"]);
    }

    #[test]
    fn external_needs_tls() {
        let connecting = Connecting { auth: Auth::External, ..Connecting::default() };
        let uri = Uri::parse("amqp://h").unwrap();
        let refused = Dialer::new(vec![uri], &connecting, 1).unwrap_err();
        assert!(refused.to_string().contains("amqps://"), "{refused}");
    }

    #[test]
    fn each_connection_has_the_token_of_its_time() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("token");
        std::fs::write(&path, "first\n").unwrap();
        let auth = Auth::Token { file: path.display().to_string() };
        let connecting = Connecting { auth, ..Connecting::default() };
        let uri = Uri::parse("amqp://h").unwrap();
        let dialer = Dialer::new(vec![uri], &connecting, 1).unwrap();
        let password = || dialer.current(dialer.uri()).password().to_owned();
        assert_eq!(password(), "first");
        std::fs::write(&path, "second").unwrap();
        assert_eq!(password(), "second");
        std::fs::remove_file(&path).unwrap();
        assert_eq!(password(), "second");
    }

    #[test]
    fn a_missing_token_is_named() {
        let auth = Auth::Token { file: "/nowhere/token".to_owned() };
        let connecting = Connecting { auth, ..Connecting::default() };
        let uri = Uri::parse("amqp://h").unwrap();
        let refused = Dialer::new(vec![uri], &connecting, 1).unwrap_err();
        assert!(refused.to_string().contains("/nowhere/token"), "{refused}");
    }
}
