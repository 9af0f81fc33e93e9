//! Bytes as an Erlang expression.

/// Returns an Erlang binary of these bytes. Hexadecimal digits need no quoting.
pub(super) fn binary(bytes: &[u8]) -> String {
    let digits = bytes.iter().fold(String::new(), |digits, byte| format!("{digits}{byte:02X}"));
    format!("binary:decode_hex(<<\"{digits}\">>)")
}
