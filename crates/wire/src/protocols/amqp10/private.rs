//! Application values in performatives: the values of maps (properties, filters, annotations).

use super::super::{
    harmless,
    prefix::{Prefix, Step, Stop},
};

const DESCRIBED: usize = 0;
const MAP_8: u8 = 0xc1;
const MAP_32: u8 = 0xd1;

/// Returns whether the fields may contain a map. Most transfers have none.
pub(super) fn may_have_maps(bytes: &[u8]) -> bool {
    bytes.iter().any(|byte| matches!(*byte, MAP_8 | MAP_32))
}

/// Reports the application values among the fields of a performative.
pub(super) fn fields(prefix: &mut Prefix<'_, '_>) -> Step {
    while !prefix.is_at_end() {
        value(prefix, true)?;
    }
    Ok(())
}

/// Reads a value by its constructor, whose upper half defines the length (part 1, section 1.2).
pub(super) fn value(prefix: &mut Prefix<'_, '_>, is_kept: bool) -> Step {
    let constructor = prefix.number(1)?;
    if constructor == DESCRIBED {
        return described(prefix, is_kept);
    }
    let bytes = match constructor >> 4 {
        4 => 0,
        5 => 1,
        6 => 2,
        7 => 4,
        8 => 8,
        9 => 16,
        0xa => prefix.number(1)?,
        0xb => prefix.number(4)?,
        0xc => return compound(prefix, 1, constructor & 1 != 0, is_kept),
        0xd => return compound(prefix, 4, constructor & 1 != 0, is_kept),
        0xe => return array(prefix, 1, is_kept),
        0xf => return array(prefix, 4, is_kept),
        _ => return Err(Stop::Malformed),
    };
    prefix.value(bytes, is_kept)
}

fn described(prefix: &mut Prefix<'_, '_>, is_kept: bool) -> Step {
    // `nested` bounds the depth of descriptors.
    prefix.nested(|prefix| {
        value(prefix, true)?;
        value(prefix, is_kept)
    })
}

/// Reads a list or a map; its size includes the bytes of the count.
fn compound(prefix: &mut Prefix<'_, '_>, width: usize, is_map: bool, is_kept: bool) -> Step {
    let size = prefix.number(width)?;
    prefix.within(size, |prefix| {
        prefix.keep(width)?;
        while !prefix.is_at_end() {
            let is_kept = if is_map { key(prefix)? && is_kept } else { is_kept };
            value(prefix, is_kept)?;
        }
        Ok(())
    })
}

/// Reads a key, which is kept. Returns whether its value is kept too.
pub(super) fn key(prefix: &mut Prefix<'_, '_>) -> Step<bool> {
    let constructor = prefix.number(1)?;
    let length = match constructor {
        0xa1 | 0xa3 => prefix.number(1)?,
        0xb1 | 0xb3 => prefix.number(4)?,
        0x50..=0x56 => 1,
        0x60..=0x61 => 2,
        0x70..=0x74 => 4,
        0x80..=0x84 => 8,
        0x40..=0x45 => 0,
        _ => return Err(Stop::Malformed),
    };
    Ok(harmless::is_property(prefix.bytes(length)?))
}

/// Reads elements that share one constructor. Symbols of capabilities are kept; compound elements are not.
fn array(prefix: &mut Prefix<'_, '_>, width: usize, is_kept: bool) -> Step {
    let size = prefix.number(width)?;
    prefix.within(size, |prefix| {
        prefix.keep(width)?;
        let constructor = prefix.number(1)?;
        let is_simple = matches!(constructor >> 4, 4..=0xb);
        prefix.values_to_end(is_kept && is_simple)
    })
}
