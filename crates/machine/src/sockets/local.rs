//! Addresses of this machine.

use std::net::{IpAddr, UdpSocket};

/// Returns true if the address belongs to this machine: only such an address can be bound.
pub fn is_local_address(address: IpAddr) -> bool {
    UdpSocket::bind((address, 0)).is_ok()
}
