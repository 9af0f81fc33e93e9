//! Options of a capture: interface, ports, and memory.

use std::time::Duration;

use crate::packets::{error::PacketError, ports::PortSet};

/// Limit for the memory of a ring.
const MAX_RING_BYTES: u64 = 1 << 30;

/// Sizes of a block. The kernel requires whole pages, and 64 KiB are whole pages on every machine.
const BLOCK_STEP_BYTES: u32 = 1 << 16;
const MAX_BLOCK_BYTES: u32 = 1 << 26;

/// Minimum of kept bytes. The headers of IP and TCP with all options are shorter.
const MIN_SNAP_BYTES: u32 = 128;

/// Interface of a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaptureInterface {
    /// All interfaces. Each interface that a packet passes shows it (a bridge and its ports, a VLAN and the
    /// interface below it).
    Any,
    /// The interface with this name.
    Named(String),
}

impl CaptureInterface {
    /// The interface's name, or `any`.
    pub fn name(&self) -> &str {
        match self {
            Self::Any => "any",
            Self::Named(name) => name,
        }
    }
}

/// Options of a capture.
#[derive(Clone, Debug)]
pub struct RingOptions {
    /// Interface to capture on.
    pub interface: CaptureInterface,
    /// Ports to capture: only packets from or to one of them.
    pub ports: PortSet,
    /// Kept bytes of a packet, from its IP header on.
    pub snap_bytes: u32,
    /// Number of blocks.
    pub blocks: u32,
    /// Size of a block, a multiple of 64 KiB.
    pub block_bytes: u32,
    /// Time after which a block is handed over even if it is not full. It delays packets, not their times.
    pub block_timeout: Duration,
}

impl RingOptions {
    /// Options with 64 blocks of 1 MiB and whole packets. Packets of `lo` and of offloading interfaces have up to
    /// 64 KiB.
    pub fn new(interface: CaptureInterface, ports: PortSet) -> Self {
        Self {
            interface,
            ports,
            snap_bytes: 1 << 18,
            blocks: 64,
            block_bytes: 1 << 20,
            block_timeout: Duration::from_millis(50),
        }
    }

    /// Refuses sizes that the kernel would refuse without a reason.
    pub(super) fn check(&self) -> Result<(), PacketError> {
        let refuse = |what, value, allowed| Err(PacketError::RingSize { what, value, allowed });
        if self.snap_bytes < MIN_SNAP_BYTES {
            return refuse("snap length", self.snap_bytes.into(), "128 bytes and more");
        }
        if self.block_bytes == 0
            || !self.block_bytes.is_multiple_of(BLOCK_STEP_BYTES)
            || self.block_bytes > MAX_BLOCK_BYTES
        {
            let allowed = "multiples of 65536 bytes up to 64 MiB";
            return refuse("block size", self.block_bytes.into(), allowed);
        }
        if self.blocks == 0 || self.ring_bytes() > MAX_RING_BYTES {
            return refuse(
                "number of blocks",
                self.blocks.into(),
                "1 and more, together up to 1 GiB",
            );
        }
        Ok(())
    }

    /// Memory of the ring in bytes.
    pub fn ring_bytes(&self) -> u64 {
        u64::from(self.blocks) * u64::from(self.block_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::{CaptureInterface, PortSet, RingOptions};

    #[test]
    fn sizes() {
        let check = |change: fn(&mut RingOptions), expected: &str| {
            let ports = PortSet::new([5672]).unwrap();
            let mut options = RingOptions::new(CaptureInterface::Any, ports);
            change(&mut options);
            let said = options.check().map_or_else(|error| error.to_string(), |()| String::new());
            assert!(said.starts_with(expected) && said.is_empty() == expected.is_empty(), "{said}");
        };
        check(|_| (), "");
        check(|options| options.block_bytes = 1 << 16, "");
        check(|options| options.block_bytes = 4096, "block size 4096");
        check(|options| options.block_bytes = 1 << 27, "block size 134217728");
        check(|options| options.blocks = 0, "number of blocks 0");
        check(|options| options.blocks = 1025, "number of blocks 1025");
        check(|options| options.snap_bytes = 0, "snap length 0");
    }
}
