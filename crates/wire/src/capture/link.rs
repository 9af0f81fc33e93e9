//! Numbers of link types in files.
//!
//! The registry is <https://www.tcpdump.org/linktypes.html>.

use crate::packet::LinkType;

/// The link types of [`link_type`], for messages.
pub(super) const SUPPORTED: &str = "Ethernet (1), NULL (0), LOOP (108), RAW (12, 14, 101, 228, 229), LINUX_SLL (113) and LINUX_SLL2 (276)";

/// Returns the link type with this number; none if it is not supported.
pub(super) const fn link_type(number: u32) -> Option<LinkType> {
    match number {
        0 => Some(LinkType::Null),
        1 => Some(LinkType::Ethernet),
        // 101 is the registered number. Some systems wrote 12 and 14. 228 and 229 are for one IP version only.
        12 | 14 | 101 | 228 | 229 => Some(LinkType::Raw),
        108 => Some(LinkType::Loop),
        113 => Some(LinkType::LinuxSll),
        276 => Some(LinkType::LinuxSll2),
        _ => None,
    }
}

/// Returns the registered number of a link type.
pub(super) const fn number(link: LinkType) -> u16 {
    match link {
        LinkType::Null => 0,
        LinkType::Ethernet => 1,
        LinkType::Raw => 101,
        LinkType::Loop => 108,
        LinkType::LinuxSll => 113,
        LinkType::LinuxSll2 => 276,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_link_type_has_its_number_back() {
        for link in [
            LinkType::Ethernet,
            LinkType::Null,
            LinkType::Loop,
            LinkType::Raw,
            LinkType::LinuxSll,
            LinkType::LinuxSll2,
        ] {
            assert_eq!(link_type(u32::from(number(link))), Some(link));
            assert!(SUPPORTED.contains(&number(link).to_string()));
        }
        assert_eq!(link_type(147), None);
    }
}
