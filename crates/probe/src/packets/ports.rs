//! The observed TCP ports: a small set, so that a filter in the kernel can compare them one by one.

use super::error::PacketError;

/// Limit of ports in a filter. Jumps of classic BPF reach 255 instructions, and each port takes two.
pub const MAX_PORTS: usize = 64;

/// One to [`MAX_PORTS`] TCP ports, each once, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortSet(Vec<u16>);

impl PortSet {
    /// A set of `ports`. Refuses none, too many, and port 0.
    pub fn new(ports: impl IntoIterator<Item = u16>) -> Result<Self, PacketError> {
        let mut ports: Vec<u16> = ports.into_iter().collect();
        ports.sort_unstable();
        ports.dedup();
        if ports.first() == Some(&0) {
            return Err(PacketError::PortZero);
        }
        if ports.is_empty() || ports.len() > MAX_PORTS {
            return Err(PacketError::PortCount { count: ports.len(), most: MAX_PORTS });
        }
        Ok(Self(ports))
    }

    /// The ports in order.
    pub fn as_slice(&self) -> &[u16] {
        &self.0
    }

    /// Returns whether the set has the port.
    pub fn contains(&self, port: u16) -> bool {
        self.0.binary_search(&port).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_PORTS, PortSet};

    fn check(ports: impl IntoIterator<Item = u16>, expected: Option<usize>) {
        assert_eq!(PortSet::new(ports).ok().map(|set| set.as_slice().len()), expected);
    }

    #[test]
    fn a_set_is_small_and_has_no_port_zero() {
        check([5672, 5671, 5672], Some(2));
        check([], None);
        check([0, 5672], None);
        check(1..=64, Some(MAX_PORTS));
        check(1..=65, None);
    }

    #[test]
    fn members() {
        let set = PortSet::new([5672, 1883]).unwrap();
        assert!(set.contains(1883) && set.contains(5672) && !set.contains(80));
    }
}
