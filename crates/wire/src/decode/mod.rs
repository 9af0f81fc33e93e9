//! Headers of a packet, from the link's to TCP's, and the payload behind them.
//!
//! ```text
//! link        Ethernet, VLAN tags, MPLS, PPPoE, NULL, LOOP, RAW, SLL, SLL2 ─► an IP packet
//! internet    IPv4, IPv6                                     ─► a TCP segment
//! tunnels     VXLAN, Geneve, GRE, IP in IP                   ─► a packet again
//! tcp         TCP header and options                         ─► Segment
//! repeats     packets that were captured more than once
//! outcome     reasons why a packet is no segment, with counts
//! ```
//!
//! This is not `etherparse`, because the need is small and special. The code must work on the beginning of a packet
//! alone, and on packets that are larger than their headers can state (segmentation offload). It compares each length
//! in a header with the captured bytes before it uses the length.

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
