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

/// The program whose connections have the names of a scenario's groups.
const OWN_PRODUCT: &[u8] = b"rabbitscope";

/// Reports values among the client's properties: the fields of a table whose length is already read. It keeps the name of
/// a connection only if this program made it.
pub(super) fn client_properties(prefix: &mut Prefix<'_, '_>) -> Step {
    let mut is_own = false;
    while !prefix.is_at_end() {
        let length = prefix.number(1)?;
        match prefix.bytes(length)? {
            b"product" => is_own = long_text(prefix)? == OWN_PRODUCT,
            b"connection_name" => value(prefix, is_own)?,
            key => value(prefix, harmless::is_property(key))?,
        }
    }
    Ok(())
}

/// Returns a long text, which is kept; of another value nothing.
fn long_text<'a>(prefix: &mut Prefix<'a, '_>) -> Step<&'a [u8]> {
    match prefix.bytes(1)? {
        b"S" => {
            let length = prefix.number(4)?;
            prefix.bytes(length)
        }
        _ => Err(Stop::Malformed),
    }
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

#[cfg(test)]
mod tests {
    use core::ops::Range;

    use super::*;

    #[test]
    fn only_names_of_own_connections_are_kept() {
        fn check(product: &[u8], is_kept: bool) {
            let mut fields = Vec::new();
            for (key, value) in
                [(&b"product"[..], product), (b"connection_name", b"rabbitscope a 0")]
            {
                fields.push(u8::try_from(key.len()).unwrap());
                fields.extend_from_slice(key);
                fields.push(b'S');
                fields.extend_from_slice(&u32::try_from(value.len()).unwrap().to_be_bytes());
                fields.extend_from_slice(value);
            }
            let end = fields.len();
            let mut told = Vec::new();
            let tell = &mut |range: Range<usize>| told.push((range.start, range.end));
            Prefix::read(&fields, (end, end), tell, client_properties);
            let expected = if is_kept { Vec::new() } else { vec![(end - 15, end)] };
            assert_eq!(told, expected, "{product:?}");
        }
        check(b"rabbitscope", true);
        check(b"pika", false);
        check(b"rabbitscope2", false);
    }
}
