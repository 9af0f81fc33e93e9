//! Parts of pages, as a program reads them.

use std::io::Read;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use flate2::read::GzDecoder;

/// Returns the contents of a script element of a page.
pub(super) fn element<'a>(page: &'a str, id: &str) -> &'a str {
    let (_, rest) = page.split_once(&format!("id=\"{id}\">")).unwrap();
    rest.split("</script>").next().unwrap()
}

/// Reads the names of functions from the columns of a page, as `docs/reference/formats.md` describes them: four numbers,
/// the lengths of eleven columns, and the names, each after its length.
pub(super) fn names_of_functions(page: &str) -> Vec<String> {
    let packed = BASE64_STANDARD.decode(element(page, "columns").trim()).unwrap();
    let mut bytes = Vec::new();
    GzDecoder::new(packed.as_slice()).read_to_end(&mut bytes).unwrap();
    let mut rest = bytes.as_slice();
    let head: Vec<usize> = (0..4 + 11).map(|_| number(&mut rest)).collect();
    (0..head[2])
        .map(|_| {
            let length = number(&mut rest);
            let (name, others) = rest.split_at(length);
            rest = others;
            String::from_utf8(name.to_vec()).unwrap()
        })
        .collect()
}

/// Takes a LEB128 number.
fn number(bytes: &mut &[u8]) -> usize {
    let end = bytes.iter().position(|byte| byte & 0x80 == 0).unwrap();
    let (number, rest) = bytes.split_at(end + 1);
    *bytes = rest;
    number.iter().rev().fold(0, |sum, byte| sum << 7 | usize::from(byte & 0x7f))
}
