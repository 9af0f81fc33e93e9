//! Application values in methods and content headers: values of tables, and properties that are not names of queues.

use rabbitscope_amqp::protocol::{
    methods::{CONNECTION_START, Field, Method},
    properties::{
        BYTES_BEFORE_FLAGS, CLUSTER_ID, CONTENT_TYPE, DELIVERY_MODE, EXPIRATION, HEADERS,
        MORE_FLAGS, PRIORITY, REPLY_TO, TIMESTAMP,
    },
    values::ValueLayout,
};

use super::super::{
    harmless,
    prefix::{Prefix, Step, Stop},
};

/// Reports the application values of a content header's payload. It keeps names of reply queues, and numbers that
/// affect RabbitMQ.
pub(super) fn properties(prefix: &mut Prefix<'_, '_>) -> Step {
    prefix.keep(BYTES_BEFORE_FLAGS)?;
    let flags = flags(prefix)?;
    let mut flag = CONTENT_TYPE;
    while flag >= CLUSTER_ID {
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

/// Reports the application values in the arguments of a method with a table.
pub(super) fn arguments(prefix: &mut Prefix<'_, '_>, method: &Method) -> Step {
    for field in method.fields {
        match field {
            Field::Octet | Field::Flags | Field::FlagsWithNoWait(_) => prefix.keep(1)?,
            Field::Short => prefix.keep(2)?,
            Field::Long => prefix.keep(4)?,
            Field::LongLong => prefix.keep(8)?,
            Field::ShortString => short(prefix, true)?,
            // Mechanisms and locales follow.
            Field::Table if method.id == CONNECTION_START => {
                return table(prefix, harmless::is_property);
            }
            Field::Table => table(prefix, harmless::is_argument)?,
            Field::LongString => break,
        }
    }
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

/// Reads a value by the letter of its type.
fn value(prefix: &mut Prefix<'_, '_>, is_kept: bool) -> Step {
    let [letter] = prefix.bytes(1)? else { return Err(Stop::Malformed) };
    let bytes = match ValueLayout::from_letter(*letter) {
        Some(ValueLayout::Fixed(bytes)) => bytes,
        Some(ValueLayout::Bytes) => prefix.number(4)?,
        Some(ValueLayout::Table) if is_kept => return table(prefix, |_| true),
        Some(ValueLayout::Table) => return table(prefix, |_| false),
        Some(ValueLayout::Array) => return array(prefix, is_kept),
        None => return Err(Stop::Malformed),
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
