//! Iterator over the outermost fields of a message, so that each field's size is checked before it is decoded. `prost`
//! decodes the contents.

use super::PprofError;

/// Size limit of a field: a sample with a stack of a million frames, or with the times of two weeks.
const MAX_FIELD_BYTES: usize = 4 << 20;

/// A field in its encoded form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field<'a> {
    pub(super) number: u64,
    /// All bytes, including the key.
    pub(super) whole: &'a [u8],
    /// The content of a text or a message; otherwise empty or the fixed-size value.
    pub(super) content: &'a [u8],
}

impl<'a> Field<'a> {
    /// Returns the content, unless it exceeds the size limit.
    pub(super) fn small(self) -> Result<&'a [u8], PprofError> {
        if self.content.len() <= MAX_FIELD_BYTES {
            return Ok(self.content);
        }
        Err(PprofError::Broken(format!("a field of {} bytes", self.content.len())))
    }
}

/// Iterates over all fields of a message, up to the first malformed one.
pub(super) fn fields(message: &[u8]) -> impl Iterator<Item = Result<Field<'_>, PprofError>> {
    let mut rest = message;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let field = first(rest);
        rest = field.as_ref().map_or(&[], |field| &rest[field.whole.len()..]);
        Some(field)
    })
}

/// Iterates over the fields with this number.
pub(super) fn fields_of(
    message: &[u8],
    number: u64,
) -> impl Iterator<Item = Result<Field<'_>, PprofError>> {
    fields(message).filter(move |field| field.as_ref().map_or(true, |field| field.number == number))
}

/// Reads the first field. <https://protobuf.dev/programming-guides/encoding/> describes the encoding.
fn first(message: &[u8]) -> Result<Field<'_>, PprofError> {
    let mut rest = message;
    let key = varint(&mut rest)?;
    let content = match key & 7 {
        0 => {
            varint(&mut rest)?;
            &[]
        }
        1 => take(&mut rest, 8)?,
        2 => {
            let length = varint(&mut rest)?;
            take(&mut rest, length)?
        }
        5 => take(&mut rest, 4)?,
        kind => return Err(PprofError::Foreign(format!("a field of the unknown kind {kind}"))),
    };
    let number = key >> 3;
    if number == 0 {
        return Err(PprofError::Foreign("a field without a number".to_owned()));
    }
    Ok(Field { number, whole: &message[..message.len() - rest.len()], content })
}

fn take<'a>(rest: &mut &'a [u8], length: u64) -> Result<&'a [u8], PprofError> {
    let taken = usize::try_from(length).ok().and_then(|length| rest.split_at_checked(length));
    let (taken, after) = taken.ok_or_else(cut_off)?;
    *rest = after;
    Ok(taken)
}

fn varint(rest: &mut &[u8]) -> Result<u64, PprofError> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let (&byte, after) = rest.split_first().ok_or_else(cut_off)?;
        *rest = after;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(number);
        }
    }
    Err(PprofError::Foreign("a number of more than 64 bits".to_owned()))
}

fn cut_off() -> PprofError {
    PprofError::Foreign("it ends in the middle of a field".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(message: &[u8]) -> Result<Vec<(u64, usize)>, String> {
        let field = |field: Result<Field<'_>, PprofError>| {
            field
                .map(|field| (field.number, field.content.len()))
                .map_err(|error| error.to_string())
        };
        fields(message).map(field).collect()
    }

    #[test]
    fn fields_are_told_apart() {
        let message = [0x08, 0x96, 0x01, 0x12, 2, 7, 7, 0x1d, 0, 0, 0, 0, 0xc2, 0x3e, 1, 9];
        assert_eq!(numbers(&message), Ok(vec![(1, 0), (2, 2), (3, 4), (1000, 1)]));
        let second = fields_of(&message, 2).next().unwrap().unwrap();
        assert_eq!((second.whole, second.content), (&message[3..7], &message[5..7]));
        for end in [1, 2, 4, 5, 9, 13] {
            assert!(numbers(&message[..end]).unwrap_err().contains("in the middle"), "{end}");
        }
    }

    #[test]
    fn what_is_no_message_is_refused() {
        for bytes in [&[0x0b][..], &[0x02, 0], &[0xff; 11], &[0x12, 0xff, 0xff, 0xff, 0xff, 0x0f]] {
            assert!(numbers(bytes).is_err(), "{bytes:?}");
        }
        let content = vec![0; MAX_FIELD_BYTES + 1];
        let field = Field { number: 2, whole: &[], content: &content };
        assert!(field.small().is_err());
    }
}
