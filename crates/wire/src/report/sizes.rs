//! Packets by length, in the bins of `tshark -z plen,tree`.

use serde::{Deserialize, Serialize};

/// Smallest lengths of the bins, in bytes on the wire. The last bin has no upper limit.
pub const SIZE_BINS: [u32; 10] = [0, 20, 40, 80, 160, 320, 640, 1280, 2560, 5120];

/// Packets of a range of lengths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct SizeBin {
    /// Smallest length, in bytes.
    pub from: u32,
    /// Largest length; none for the last bin.
    pub to: Option<u32>,
    /// Packets.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Smallest observed length; 0 without packets.
    pub min: u32,
    /// Largest observed length.
    pub max: u32,
}
