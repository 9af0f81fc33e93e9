//! The place in a message, and the values of applications among its bytes.

use super::{
    super::{
        framer::Tell,
        prefix::{Prefix, Step, Stop},
        sink::SensitiveKind,
    },
    private,
};

pub(super) const HEADER: u8 = 0x70;
pub(super) const PROPERTIES: u8 = 0x73;
/// Place of the address among the properties.
pub(super) const TO: usize = 2;

/// The next part of a message.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    /// Descriptor and constructor of a section.
    Head,
    /// Size and count of a section, of one or four bytes each.
    Size { section: u8, width: u32 },
    /// Content of a section; with its unread bytes.
    Content { section: u8, skip: u32 },
    /// Length of a body, of one or four bytes.
    Length,
}

impl Part {
    /// Reports the values among the bytes. The header has none of applications.
    pub(super) fn private(self, bytes: &[u8], wanted: usize, tell: &mut Tell<'_>) {
        let Self::Content { section, skip } = self else { return };
        let tell = &mut |range| tell(range, SensitiveKind::Body);
        let whole = wanted + skip as usize;
        Prefix::read(bytes, (wanted, whole), tell, |prefix| values(prefix, section));
    }
}

fn values(prefix: &mut Prefix<'_, '_>, section: u8) -> Step {
    let mut place = 0;
    while !prefix.is_at_end() {
        match section {
            HEADER => match prefix.number(1)? >> 4 {
                4 => {}
                5 => prefix.keep(1)?,
                6 => prefix.keep(2)?,
                7 => prefix.keep(4)?,
                _ => return Err(Stop::Malformed),
            },
            PROPERTIES => private::value(prefix, place == TO)?,
            _ => {
                private::key(prefix)?;
                private::value(prefix, false)?;
            }
        }
        place += 1;
    }
    Ok(())
}
