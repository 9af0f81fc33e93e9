//! Application values in methods and content headers: values of tables, and properties that are not names of queues.

use super::{
    super::{
        harmless,
        prefix::{Prefix, Step, Stop},
    },
    names::{BASIC, CONNECTION},
};

/// Class, weight and size of the body.
const BEFORE_FLAGS: usize = 12;
const HEADERS: u16 = 1 << 13;
const DELIVERY_MODE: u16 = 1 << 12;
const PRIORITY: u16 = 1 << 11;
const REPLY_TO: u16 = 1 << 9;
const EXPIRATION: u16 = 1 << 8;
const TIMESTAMP: u16 = 1 << 6;
/// The last property of class `basic`: the cluster id.
const LAST: u16 = 1 << 2;
const MORE_FLAGS: u16 = 1;

/// Reports the application values of a content header's payload. It keeps names of reply queues, and numbers that
/// affect RabbitMQ.
pub(super) fn properties(prefix: &mut Prefix<'_, '_>) -> Step {
    prefix.keep(BEFORE_FLAGS)?;
    let flags = flags(prefix)?;
    let mut flag = 1 << 15;
    while flag >= LAST {
        if flags & flag != 0 {
            property(prefix, flag)?;
        }
        flag >>= 1;
    }
    prefix.values_to_end(false)
}

fn flags(prefix: &mut Prefix<'_, '_>) -> Step<u16> {
    let mut read = || Ok(u16::try_from(prefix.number(2)?).unwrap_or_default());
    let flags = read()?;
    let mut more = flags;
    while more & MORE_FLAGS != 0 {
        more = read()?;
    }
    Ok(flags)
}

fn property(prefix: &mut Prefix<'_, '_>, flag: u16) -> Step {
    match flag {
        HEADERS => table(prefix, |_| false),
        DELIVERY_MODE | PRIORITY => prefix.keep(1),
        TIMESTAMP => prefix.keep(8),
        REPLY_TO | EXPIRATION => short(prefix, true),
        _ => short(prefix, false),
    }
}

fn short(prefix: &mut Prefix<'_, '_>, is_kept: bool) -> Step {
    let length = prefix.number(1)?;
    prefix.value(length, is_kept)
}

/// Returns the position of a method's table: after this many bytes, this many short strings, and this many bytes.
const fn place_of_table(class: u16, method: u16) -> Option<(usize, usize, usize)> {
    Some(match (class, method) {
        (CONNECTION, 10) => (2, 0, 0),
        (40, 10) | (BASIC, 20) => (2, 2, 1),
        (40, 30 | 40) | (50, 20) => (2, 3, 1),
        (50, 10) => (2, 1, 1),
        (50, 50) => (2, 3, 0),
        _ => return None,
    })
}

/// Returns whether a method has application values.
pub(super) const fn has_table(class: u16, method: u16) -> bool {
    place_of_table(class, method).is_some()
}

/// Reports the application values in the arguments of a method with a table.
pub(super) fn arguments(prefix: &mut Prefix<'_, '_>, class: u16, method: u16) -> Step {
    let Some((before, texts, behind)) = place_of_table(class, method) else { return Ok(()) };
    prefix.keep(before)?;
    for _ in 0..texts {
        short(prefix, true)?;
    }
    prefix.keep(behind)?;
    if class == CONNECTION {
        // Mechanisms and locales follow.
        return table(prefix, harmless::is_property);
    }
    table(prefix, harmless::is_argument)?;
    prefix.values_to_end(false)
}

/// Reports values among the client's properties: the fields of a table whose length is already read.
pub(super) fn client_properties(prefix: &mut Prefix<'_, '_>) -> Step {
    fields(prefix, harmless::is_property)
}

fn table(prefix: &mut Prefix<'_, '_>, is_harmless: fn(&[u8]) -> bool) -> Step {
    let length = prefix.number(4)?;
    prefix.within(length, |prefix| fields(prefix, is_harmless))
}

fn fields(prefix: &mut Prefix<'_, '_>, is_harmless: fn(&[u8]) -> bool) -> Step {
    while !prefix.is_at_end() {
        let length = prefix.number(1)?;
        let key = prefix.bytes(length)?;
        value(prefix, is_harmless(key))?;
    }
    Ok(())
}

/// Reads a value by the letter of its type, as RabbitMQ defines them.
fn value(prefix: &mut Prefix<'_, '_>, is_kept: bool) -> Step {
    let kind = prefix.bytes(1)?;
    let bytes = match kind {
        b"V" => 0,
        b"t" | b"b" | b"B" => 1,
        b"s" | b"u" => 2,
        b"I" | b"i" | b"f" => 4,
        b"D" => 5,
        b"l" | b"L" | b"d" | b"T" => 8,
        b"S" | b"x" => prefix.number(4)?,
        b"F" if is_kept => return table(prefix, |_| true),
        b"F" => return table(prefix, |_| false),
        b"A" => return array(prefix, is_kept),
        _ => return Err(Stop::Malformed),
    };
    prefix.value(bytes, is_kept)
}

fn array(prefix: &mut Prefix<'_, '_>, is_kept: bool) -> Step {
    let length = prefix.number(4)?;
    prefix.within(length, |prefix| {
        while !prefix.is_at_end() {
            value(prefix, is_kept)?;
        }
        Ok(())
    })
}
