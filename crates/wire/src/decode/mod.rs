//! A packet's headers: from the link's to TCP's, and what is behind them.
//!
//! ```text
//! link        Ethernet, VLAN tags, MPLS, PPPoE, NULL, LOOP, RAW, SLL, SLL2 ─► an IP packet
//! internet    IPv4, IPv6                                     ─► what TCP sent
//! tunnels     VXLAN, Geneve, GRE, IP in IP                   ─► a packet again
//! tcp         TCP header and options                         ─► Segment
//! repeats     packets that were captured more than once
//! outcome     why a packet is no segment, and counts of that
//! ```
//!
//! Written here and not taken from `etherparse`: what is needed is small, has to work on the beginning of a packet
//! alone, and on packets that are larger than their headers can say (segmentation offload). No length in a header is
//! used before it was compared with what was captured.

mod internet;
mod link;
mod outcome;
mod packet;
mod repeats;
mod tcp;
#[cfg(test)]
mod tests;
mod tunnels;

pub use outcome::{DecodeCounts, NotDecoded};
pub use packet::{Decoded, decode, decode_inner};
pub use repeats::Repeats;
