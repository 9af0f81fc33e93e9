//! Application values in commands: the values of maps after the correlation id.

use super::{
    super::{
        harmless,
        prefix::{Prefix, Step},
    },
    command::{CREATE, CREATE_SUPER_STREAM, OPEN, PEER_PROPERTIES, SUBSCRIBE},
};

/// Returns whether a command has a map.
pub(super) const fn has_map(key: u16, is_response: bool) -> bool {
    match key {
        PEER_PROPERTIES => true,
        OPEN => is_response,
        SUBSCRIBE | CREATE | CREATE_SUPER_STREAM => !is_response,
        _ => false,
    }
}

/// Reports the application values of a command with a map.
pub(super) fn content(prefix: &mut Prefix<'_, '_>, key: u16, is_response: bool) -> Step {
    if is_response {
        prefix.keep(2)?;
    }
    match key {
        CREATE => text(prefix, true)?,
        CREATE_SUPER_STREAM => {
            text(prefix, true)?;
            texts(prefix)?;
            texts(prefix)?;
        }
        SUBSCRIBE => subscription(prefix)?,
        _ => {}
    }
    if prefix.is_at_end() {
        // The map is optional.
        return Ok(());
    }
    map(prefix)?;
    prefix.values_to_end(false)
}

/// The program whose connections have the names of a scenario's groups.
const OWN_PRODUCT: &[u8] = b"rabbitscope";

/// Skips subscription, stream, offset and credit.
fn subscription(prefix: &mut Prefix<'_, '_>) -> Step {
    const OFFSET: usize = 4;
    const TIMESTAMP: usize = 5;
    prefix.keep(1)?;
    text(prefix, true)?;
    if matches!(prefix.number(2)?, OFFSET | TIMESTAMP) {
        prefix.keep(8)?;
    }
    prefix.keep(2)
}

fn texts(prefix: &mut Prefix<'_, '_>) -> Step {
    for _ in 0..prefix.number(4)? {
        text(prefix, true)?;
    }
    Ok(())
}

fn map(prefix: &mut Prefix<'_, '_>) -> Step {
    let mut is_own = false;
    for _ in 0..prefix.number(4)? {
        let length = prefix.number(2)?;
        match prefix.bytes(length)? {
            b"product" => {
                let length = prefix.number(2)?;
                is_own = prefix.bytes(length)? == OWN_PRODUCT;
            }
            b"connection_name" => text(prefix, is_own)?,
            key => text(prefix, harmless::is_property(key) || harmless::is_argument(key))?,
        }
    }
    Ok(())
}

fn text(prefix: &mut Prefix<'_, '_>, is_kept: bool) -> Step {
    const NONE: usize = 0xffff;
    match prefix.number(2)? {
        NONE => Ok(()),
        length => prefix.value(length, is_kept),
    }
}
