//! Encoder of protocol buffer fields into one buffer. It builds no message in memory first, which would allocate for
//! every stack and every label. [`super::write`] knows the fields' meaning.
//!
//! Like every encoder, it omits numbers that are zero. <https://protobuf.dev/programming-guides/encoding/> describes
//! the encoding.

use prost::encoding::{WireType, encode_key, encode_varint};

/// A message, or a part of one.
#[derive(Debug, Default)]
pub(super) struct Fields(Vec<u8>);

impl Fields {
    /// The bytes so far.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Appends all fields of `more`.
    pub(super) fn append(&mut self, more: &Self) {
        self.0.extend_from_slice(&more.0);
    }

    /// Adds a number.
    pub(super) fn number(&mut self, field: u32, value: u64) {
        if value != 0 {
            encode_key(field, WireType::Varint, &mut self.0);
            encode_varint(value, &mut self.0);
        }
    }

    /// Adds a text or bytes, even if empty.
    pub(super) fn delimited(&mut self, field: u32, bytes: &[u8]) {
        encode_key(field, WireType::LengthDelimited, &mut self.0);
        encode_varint(bytes.len() as u64, &mut self.0);
        self.0.extend_from_slice(bytes);
    }

    /// Adds a message with the fields that `content` writes.
    pub(super) fn message(&mut self, field: u32, content: impl FnOnce(&mut Self)) {
        encode_key(field, WireType::LengthDelimited, &mut self.0);
        let start = self.0.len();
        content(self);
        self.insert_length(start);
    }

    /// Adds packed numbers; nothing if there are none.
    pub(super) fn packed(&mut self, field: u32, values: impl IntoIterator<Item = u64>) {
        let before = self.0.len();
        encode_key(field, WireType::LengthDelimited, &mut self.0);
        let start = self.0.len();
        for value in values {
            encode_varint(value, &mut self.0);
        }
        if self.0.len() == start {
            self.0.truncate(before);
        } else {
            self.insert_length(start);
        }
    }

    /// Inserts the length of the part from `start` before it, once the part is complete.
    fn insert_length(&mut self, start: usize) {
        let end = self.0.len();
        encode_varint((end - start) as u64, &mut self.0);
        let digits = self.0.len() - end;
        self.0[start..].rotate_right(digits);
    }
}

#[cfg(test)]
mod tests {
    use super::Fields;

    #[test]
    fn fields_as_the_specification_has_them() {
        let mut fields = Fields::default();
        fields.number(1, 150);
        fields.number(2, 0);
        fields.delimited(2, b"testing");
        fields.packed(6, [3, 270, 86942]);
        fields.packed(7, []);
        let expected = [
            &[0x08, 0x96, 0x01, 0x12, 0x07][..],
            b"testing",
            &[0x32, 0x06, 0x03, 0x8e, 0x02, 0x9e, 0xa7, 0x05],
        ];
        assert_eq!(fields.bytes(), expected.concat());
    }

    #[test]
    fn a_message_has_its_length_before_it() {
        for length in [0, 127, 128, 20_000] {
            let mut fields = Fields::default();
            fields.message(3, |inner| inner.delimited(1, &vec![7; length]));
            let mut inner = Fields::default();
            inner.delimited(1, &vec![7; length]);
            let mut expected = Fields::default();
            expected.delimited(3, inner.bytes());
            assert_eq!(fields.bytes(), expected.bytes(), "{length}");
        }
    }
}
