//! Writing of values, each in its smallest form.

use crate::protocol::constructors as code;

/// Appends values.
pub(crate) trait Write {
    /// Appends null.
    fn put_null(&mut self);
    /// Appends true or false.
    fn put_boolean(&mut self, value: bool);
    /// Appends a `ubyte`.
    fn put_ubyte(&mut self, value: u8);
    /// Appends a `ushort`.
    fn put_ushort(&mut self, value: u16);
    /// Appends a `uint`.
    fn put_uint(&mut self, value: u32);
    /// Appends an `int`.
    fn put_int(&mut self, value: i32);
    /// Appends a `ulong`.
    fn put_ulong(&mut self, value: u64);
    /// Appends a `long`.
    fn put_long(&mut self, value: i64);
    /// Appends a `double`.
    fn put_double(&mut self, value: f64);
    /// Appends milliseconds since 1970.
    fn put_timestamp(&mut self, millis: i64);
    /// Appends bytes.
    fn put_binary(&mut self, bytes: &[u8]);
    /// Appends a text.
    fn put_text(&mut self, text: &str);
    /// Appends a symbol.
    fn put_symbol(&mut self, symbol: &str);
    /// Appends the descriptor of the value that follows.
    fn put_code(&mut self, code: u8);
    /// Appends a list. Nulls at its end are left out.
    fn put_list(&mut self, write: impl FnOnce(&mut List));
    /// Appends a map, whose keys and values `write` appends in turn.
    fn put_map(&mut self, write: impl FnOnce(&mut List));
}

/// The elements of a list or map.
#[derive(Debug, Default)]
pub(crate) struct List {
    bytes: Vec<u8>,
    count: u32,
    /// Nulls that precede the next element.
    nulls: u32,
}

impl List {
    /// Appends the next element, which `write` writes.
    pub(crate) fn put(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        for _ in 0..self.nulls {
            self.bytes.put_null();
        }
        self.count += std::mem::take(&mut self.nulls) + 1;
        write(&mut self.bytes);
    }

    /// Appends nulls, unless nothing follows them.
    pub(crate) fn nulls(&mut self, count: u32) {
        self.nulls += count;
    }

    /// Appends a value, or null.
    pub(crate) fn put_some<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Vec<u8>, T)) {
        match value {
            Some(value) => self.put(|out| write(out, value)),
            None => self.nulls(1),
        }
    }

    /// Returns the encoded elements and their number.
    pub(crate) fn elements(&self) -> (&[u8], u32) {
        (&self.bytes, self.count)
    }

    fn end(&self, out: &mut Vec<u8>, short: u8, long: u8) {
        if let Ok(size) = u8::try_from(self.bytes.len() + 1)
            && let Ok(count) = u8::try_from(self.count)
        {
            out.extend_from_slice(&[short, size, count]);
        } else {
            out.push(long);
            let size = u32::try_from(self.bytes.len() + 4).unwrap_or(u32::MAX);
            out.extend_from_slice(&size.to_be_bytes());
            out.extend_from_slice(&self.count.to_be_bytes());
        }
        out.extend_from_slice(&self.bytes);
    }
}

impl Write for Vec<u8> {
    fn put_null(&mut self) {
        self.push(code::NULL);
    }

    fn put_boolean(&mut self, value: bool) {
        self.push(if value { code::TRUE } else { code::FALSE });
    }

    fn put_ubyte(&mut self, value: u8) {
        self.extend_from_slice(&[code::UBYTE, value]);
    }

    fn put_ushort(&mut self, value: u16) {
        self.push(code::USHORT);
        self.extend_from_slice(&value.to_be_bytes());
    }

    fn put_uint(&mut self, value: u32) {
        match u8::try_from(value) {
            Ok(0) => self.push(code::UINT_0),
            Ok(small) => self.extend_from_slice(&[code::SMALL_UINT, small]),
            Err(_) => {
                self.push(code::UINT);
                self.extend_from_slice(&value.to_be_bytes());
            }
        }
    }

    fn put_int(&mut self, value: i32) {
        self.push(code::INT);
        self.extend_from_slice(&value.to_be_bytes());
    }

    fn put_ulong(&mut self, value: u64) {
        match u8::try_from(value) {
            Ok(0) => self.push(code::ULONG_0),
            Ok(small) => self.extend_from_slice(&[code::SMALL_ULONG, small]),
            Err(_) => {
                self.push(code::ULONG);
                self.extend_from_slice(&value.to_be_bytes());
            }
        }
    }

    fn put_long(&mut self, value: i64) {
        self.push(code::LONG);
        self.extend_from_slice(&value.to_be_bytes());
    }

    fn put_double(&mut self, value: f64) {
        self.push(code::DOUBLE);
        self.extend_from_slice(&value.to_be_bytes());
    }

    fn put_timestamp(&mut self, millis: i64) {
        self.push(code::TIMESTAMP);
        self.extend_from_slice(&millis.to_be_bytes());
    }

    fn put_binary(&mut self, bytes: &[u8]) {
        put_sized(self, code::BINARY_8, code::BINARY_32, bytes);
    }

    fn put_text(&mut self, text: &str) {
        put_sized(self, code::TEXT_8, code::TEXT_32, text.as_bytes());
    }

    fn put_symbol(&mut self, symbol: &str) {
        put_sized(self, code::SYMBOL_8, code::SYMBOL_32, symbol.as_bytes());
    }

    fn put_code(&mut self, code: u8) {
        self.extend_from_slice(&[code::DESCRIBED, code::SMALL_ULONG, code]);
    }

    fn put_list(&mut self, write: impl FnOnce(&mut List)) {
        let mut list = List::default();
        write(&mut list);
        if list.count == 0 {
            self.push(code::LIST_0);
        } else {
            list.end(self, code::LIST_8, code::LIST_32);
        }
    }

    fn put_map(&mut self, write: impl FnOnce(&mut List)) {
        let mut list = List::default();
        write(&mut list);
        list.end(self, code::MAP_8, code::MAP_32);
    }
}

fn put_sized(out: &mut Vec<u8>, short: u8, long: u8, bytes: &[u8]) {
    if let Ok(size) = u8::try_from(bytes.len()) {
        out.extend_from_slice(&[short, size]);
    } else {
        out.push(long);
        out.extend_from_slice(&u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_be_bytes());
    }
    out.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let mut out = Vec::new();
        write(&mut out);
        out
    }

    #[test]
    fn numbers_have_their_smallest_form() {
        assert_eq!(written(|out| out.put_uint(0)), b"\x43");
        assert_eq!(written(|out| out.put_uint(255)), b"\x52\xff");
        assert_eq!(written(|out| out.put_uint(256)), b"\x70\x00\x00\x01\x00");
        assert_eq!(written(|out| out.put_ulong(0)), b"\x44");
        assert_eq!(written(|out| out.put_ulong(256)), b"\x80\x00\x00\x00\x00\x00\x00\x01\x00");
    }

    #[test]
    fn nulls_at_the_end_of_a_list_are_left_out() {
        let list = written(|out| {
            out.put_list(|list| {
                list.nulls(2);
                list.put(|out| out.put_boolean(true));
                list.put_some(None, Vec::put_ubyte);
            });
        });
        assert_eq!(list, b"\xc0\x04\x03\x40\x40\x41");
        assert_eq!(written(|out| out.put_list(|list| list.nulls(3))), b"\x45");
        assert_eq!(written(|out| out.put_map(|_| {})), b"\xc1\x01\x00");
    }

    #[test]
    fn large_contents_have_long_sizes() {
        let text = "x".repeat(256);
        let list = written(|out| out.put_list(|list| list.put(|out| out.put_text(&text))));
        assert_eq!(list[..14], *b"\xd0\x00\x00\x01\x09\x00\x00\x00\x01\xb1\x00\x00\x01\x00");
        assert_eq!(list.len(), 14 + 256);
    }
}
