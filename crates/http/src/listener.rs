//! Binding of a server's address, and the decision which clients need credentials.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    path::Path,
};

use super::{Host, access::Access, authorization::Authorization, path_token::PathToken};
use crate::ListenError;

/// Backlog of clients that wait to be accepted: Linux's own default limit (`somaxconn`).
const MAX_WAITING: i32 = 4096;

/// Options of a listener.
#[derive(Debug)]
pub struct ListenOptions<'a> {
    /// The address.
    pub address: SocketAddr,
    /// File with the credentials that requests need.
    pub auth_file: Option<&'a Path>,
    /// Name of the option for this file, for messages.
    pub auth_option: &'static str,
    /// Further host names of the server.
    pub hosts: Vec<Host>,
}

/// A bound address without a running server.
#[derive(Debug)]
pub struct Listener {
    pub(crate) socket: TcpListener,
    pub(crate) access: Access,
}

impl Listener {
    /// Binds the address. Clients on other machines need credentials.
    pub fn bind(asked: ListenOptions<'_>) -> Result<Self, ListenError> {
        let ListenOptions { address, auth_file, auth_option, hosts } = asked;
        let authorization = auth_file.map(Authorization::read).transpose()?;
        if authorization.is_none() && !address.ip().to_canonical().is_loopback() {
            return Err(ListenError::Usage(format!(
                "other machines can reach {address}; give {auth_option} FILE, or listen on 127.0.0.1:{}",
                address.port()
            )));
        }
        let socket = listen(address).map_err(|source| ListenError::Address { address, source })?;
        Ok(Self { socket, access: Access { authorization, hosts, path_token: None } })
    }

    /// Requires a new random token at the start of every path, which the handler does not see. A page of another site
    /// cannot guess it, and neither can another user of this machine.
    pub fn with_path_token(mut self) -> io::Result<Self> {
        self.access.path_token = Some(PathToken::new()?);
        Ok(self)
    }

    /// Returns the URL of the path `/`, with the token.
    pub fn url(&self) -> io::Result<String> {
        let token = self.access.path_token.as_ref().map(PathToken::prefix).unwrap_or_default();
        Ok(format!("http://{}{token}/", self.address()?))
    }

    /// Returns the bound address. Its port is the actual one if the option's port was 0.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = TcpListener::bind(address)?;
    socket.set_nonblocking(true)?;
    // The standard library's backlog of 128 overflows when hundreds of clients reconnect at once; the others then
    // retry a second later (RFC 6298).
    rustix::net::listen(&socket, MAX_WAITING)?;
    Ok(socket)
}

/// Parses `ADDRESS:PORT` or `localhost:PORT`. Other names are refused: their addresses may change, and access depends
/// on the address.
pub fn parse_address(text: &str) -> Result<SocketAddr, String> {
    let local = text.rsplit_once(':').filter(|(name, _)| name.eq_ignore_ascii_case("localhost"));
    let address = match local {
        Some((_, port)) => port.parse().ok().map(|port| (Ipv4Addr::LOCALHOST, port).into()),
        None => text.parse().ok(),
    };
    let expected = "must be ADDRESS:PORT, such as 127.0.0.1:9419, [::1]:9419 or localhost:9419";
    address.ok_or_else(|| expected.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        fn check(text: &str, expected: Option<&str>) {
            let expected = expected.map(|text| text.parse().unwrap());
            assert_eq!(parse_address(text).ok(), expected, "{text}");
        }
        check("127.0.0.1:0", Some("127.0.0.1:0"));
        check("[::1]:80", Some("[::1]:80"));
        check("localhost:9419", Some("127.0.0.1:9419"));
        check("LOCALHOST:9419", Some("127.0.0.1:9419"));
        for wrong in ["", "localhost", "localhost:x", "localhost:70000", "::1:80", "a.example:80"] {
            check(wrong, None);
        }
    }

    #[test]
    fn other_machines_need_a_secret() {
        fn check(address: &str, expected: bool) {
            let hosts = Vec::new();
            let address = address.parse().unwrap();
            let asked =
                ListenOptions { address, auth_file: None, auth_option: "--auth-file", hosts };
            assert_eq!(Listener::bind(asked).is_ok(), expected, "{address}");
        }
        check("127.0.0.1:0", true);
        check("127.3.2.1:0", true);
        check("0.0.0.0:0", false);
        check("[::]:0", false);
        check("192.0.2.1:0", false);
        check("[::ffff:192.0.2.1]:0", false);
    }
}
