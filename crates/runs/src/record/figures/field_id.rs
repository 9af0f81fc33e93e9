//! Identities of figures that are fields of a row. Name and title follow from the field's name.

/// Returns the beginning of a field's name with another character for `_`.
pub(super) const fn spelled<const LENGTH: usize>(name: &str, between: u8) -> [u8; LENGTH] {
    let (mut written, mut at) = ([between; LENGTH], 0);
    while at < LENGTH {
        if name.as_bytes()[at] != b'_' {
            written[at] = name.as_bytes()[at];
        }
        at += 1;
    }
    written
}

pub(super) const fn text(bytes: &'static [u8]) -> &'static str {
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(_) => panic!("the name of a field is text"),
    }
}

/// Returns the identity of a field. Its name is the key in files. Its title is the same in words, without the unit.
macro_rules! field_id {
    ($name:ident, $unit:ident) => {
        super::field_id::field_id!($name, $unit, {
            const OF_UNIT: usize = match Unit::$unit {
                Unit::Nanos => "_nanos".len(),
                _ => 0,
            };
            const TITLE: [u8; stringify!($name).len() - OF_UNIT] =
                super::field_id::spelled(stringify!($name), b' ');
            super::field_id::text(&TITLE)
        })
    };
    ($name:ident, $unit:ident, $title:expr) => {{
        const NAME: [u8; stringify!($name).len()] =
            super::field_id::spelled(stringify!($name), b'-');
        MetricId { name: super::field_id::text(&NAME), title: $title, unit: Unit::$unit }
    }};
}

pub(super) use field_id;
