//! The two ends of a connection.

use core::net::{IpAddr, SocketAddr};

/// Returns whether both ends, each `address:port`, are on one machine: they have the same address, or addresses of the
/// loopback. Between them no segment is lost on the way. Those that are sent again found no room at the other end, or
/// arrived late.
pub fn is_within_machine(one: &str, other: &str) -> bool {
    let address = |end: &str| Some(end.parse::<SocketAddr>().ok()?.ip().to_canonical());
    let (Some(one), Some(other)) = (address(one), address(other)) else { return false };
    one == other || (IpAddr::is_loopback(&one) && IpAddr::is_loopback(&other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_on_one_machine() {
        for (one, other) in [
            ("127.0.0.1:5672", "127.0.0.1:40000"),
            ("127.0.1.1:5672", "127.0.0.1:40000"),
            ("[::1]:5672", "[::1]:40000"),
            ("[::ffff:127.0.0.1]:5672", "127.0.0.1:40000"),
            ("10.0.0.2:5672", "10.0.0.2:40000"),
        ] {
            assert!(is_within_machine(one, other), "{one} {other}");
        }
        for (one, other) in
            [("10.0.0.2:5672", "10.0.0.3:40000"), ("127.0.0.1:5672", "10.0.0.2:40000"), ("", "")]
        {
            assert!(!is_within_machine(one, other), "{one} {other}");
        }
    }
}
