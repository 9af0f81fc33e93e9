//! Text inside markup: escaping for XML and for JSON inside a script element.

use std::{
    fmt,
    io::{self, Write},
};

/// Shows text so that it can stand between tags and in quoted attributes of HTML and SVG. Characters that XML does not
/// allow become U+FFFD.
pub(crate) struct Markup<'a>(pub(crate) &'a str);

impl fmt::Display for Markup<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write as _;
        for character in self.0.chars() {
            match character {
                '&' => out.write_str("&amp;")?,
                '<' => out.write_str("&lt;")?,
                '>' => out.write_str("&gt;")?,
                '"' => out.write_str("&quot;")?,
                '\t' | '\n' => out.write_char(character)?,
                '\0'..' ' | '\u{fffe}' | '\u{ffff}' => out.write_char('\u{fffd}')?,
                _ => out.write_char(character)?,
            }
        }
        Ok(())
    }
}

/// Passes JSON on so that nothing in it can end or nest the script element around it. Every `<` there stands inside a
/// string and is written as an escape.
pub(crate) struct ScriptJson<W>(pub(crate) W);

impl<W: Write> Write for ScriptJson<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut parts = bytes.split(|byte| *byte == b'<');
        self.0.write_all(parts.next().unwrap_or_default())?;
        for part in parts {
            self.0.write_all(b"\\u003c")?;
            self.0.write_all(part)?;
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_escaped() {
        let check = |text, expected: &str| assert_eq!(Markup(text).to_string(), expected);
        check("a<b>&\"c'", "a&lt;b&gt;&amp;&quot;c'");
        check("bell\u{7}\n", "bell\u{fffd}\n");
    }

    #[test]
    fn json_cannot_end_its_script() {
        let check = |text: &str, expected: &str| {
            let mut out = Vec::new();
            ScriptJson(&mut out).write_all(text.as_bytes()).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        };
        check(r#"["</script><!--"]"#, r#"["\u003c/script>\u003c!--"]"#);
        check("", "");
        check("<", "\\u003c");
    }
}
