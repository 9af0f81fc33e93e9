//! Addresses of files beside a page.

/// Writes a relative path as an address. Everything with a meaning in addresses is escaped, so that a name from
/// elsewhere can neither leave the directory by a scheme nor end the path.
pub(crate) fn relative_link(path: &str) -> String {
    let escaped = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b'/' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    };
    let link: String = path.bytes().map(escaped).collect();
    if link.starts_with('/') { format!(".{link}") } else { link }
}

/// Returns the address of the report in a run directory; empty without a directory.
pub(crate) fn report_of(directory: &str) -> String {
    if directory.is_empty() {
        return String::new();
    }
    relative_link(&format!("{}/report.html", directory.trim_end_matches('/')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_a_path() {
        assert_eq!(report_of("runs/01 a&b?#"), "runs/01%20a%26b%3F%23/report.html");
        assert_eq!(relative_link("javascript:alert(1)"), "javascript%3Aalert%281%29");
        assert_eq!(relative_link("//host/x"), ".//host/x");
        assert_eq!(report_of(""), "");
    }
}
