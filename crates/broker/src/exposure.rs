//! Addresses at which other machines can reach a broker, according to the kernel, not to a list of plugins or a
//! configuration.

use std::net::{IpAddr, SocketAddr};

use rabbitscope_machine::sockets::listeners_of;

/// Returns the addresses beyond loopback that these processes listen on, without duplicates.
pub(crate) fn beyond_loopback(pids: &[u32]) -> Vec<SocketAddr> {
    let listeners = pids.iter().flat_map(|&pid| listeners_of(pid));
    let addresses = listeners.map(|listener| listener.address);
    let mut exposed: Vec<SocketAddr> =
        addresses.filter(|address| !is_loopback(address.ip())).collect();
    exposed.sort_unstable();
    exposed.dedup();
    exposed
}

fn is_loopback(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn only_what_is_beyond_loopback() {
        let check = |address: &str, is_exposed: bool| {
            // A machine without IPv6 cannot bind such an address.
            let Ok(listener) = TcpListener::bind(address) else { return };
            let own = listener.local_addr().unwrap();
            let found = beyond_loopback(&[std::process::id()]).contains(&own);
            assert_eq!(found, is_exposed, "{own}");
        };
        check("127.0.0.1:0", false);
        check("127.8.8.8:0", false);
        check("0.0.0.0:0", true);
        check("[::1]:0", false);
        check("[::]:0", true);
        check("[::ffff:127.0.0.1]:0", false);
    }
}
