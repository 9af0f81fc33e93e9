//! Foreign texts, made safe for a terminal.
//!
//! Names and messages come from a node, a broker, a file or the environment. A terminal obeys control characters in
//! them: it moves the cursor, changes its title, or reorders letters. Every such character becomes an escape.

use std::{borrow::Cow, fmt::Write};

/// Escapes a text of several lines. Line ends and tabs are its layout and stay.
pub fn text(text: &str) -> Cow<'_, str> {
    escaped(text, |c| is_obeyed(c) && !matches!(c, '\n' | '\t'))
}

/// Escapes a single value, such as a name, which must not begin a new line.
pub fn value(text: &str) -> Cow<'_, str> {
    escaped(text, is_obeyed)
}

/// Writes a value as one word of a shell, with quotes if it needs them. `None` if a terminal would obey it.
pub fn shell_word(text: &str) -> Option<Cow<'_, str>> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "@%+=:,./_-".contains(c);
    if text.contains(is_obeyed) {
        None
    } else if !text.is_empty() && text.chars().all(is_plain) {
        Some(Cow::Borrowed(text))
    } else {
        Some(Cow::Owned(shell_quoted(text)))
    }
}

/// Quotes any text as one word of a shell (POSIX, "Shell Command Language", 2.2.2).
pub fn shell_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Escapes a JSON text. Such characters only occur in its strings, where they become JSON escapes.
pub fn json(text: &str) -> Cow<'_, str> {
    let is_foreign = |c| is_obeyed(c) && !matches!(c, '\n' | '\t');
    if !text.contains(is_foreign) {
        return Cow::Borrowed(text);
    }
    let mut json = String::with_capacity(text.len());
    for c in text.chars() {
        if is_foreign(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(json, "\\u{unit:04x}");
            }
        } else {
            json.push(c);
        }
    }
    Cow::Owned(json)
}

/// Escapes metrics for Prometheus. Such characters only occur in quoted labels, where a backslash is doubled.
pub fn metrics(text: &str) -> Cow<'_, str> {
    let is_foreign = |c| is_obeyed(c) && c != '\n';
    if !text.contains(is_foreign) {
        return Cow::Borrowed(text);
    }
    let shown = |c: char| {
        let own = c.to_string();
        if is_foreign(c) { value(&own).replace('\\', "\\\\") } else { own }
    };
    Cow::Owned(text.chars().map(shown).collect())
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().fold(String::with_capacity(text.len()), |mut shown, c| {
        match c {
            c if !is_escaped(c) => shown.push(c),
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            '\t' => shown.push_str("\\t"),
            c if c.is_ascii() => {
                let _ = write!(shown, "\\x{:02x}", u32::from(c));
            }
            c => {
                let _ = write!(shown, "\\u{{{:x}}}", u32::from(c));
            }
        }
        shown
    }))
}

/// Returns true for a character that a terminal may obey: control characters (C0, DEL, C1), the order of
/// bidirectional text, and line separators. Characters without width also count, because they make two names look
/// alike. The joiners U+200C and U+200D stay: Persian, Indic scripts and emoji need them.
fn is_obeyed(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_obeys_no_name() {
        let check = |name: &str, in_text: &str, as_value: &str| {
            assert_eq!((&*text(name), &*value(name)), (in_text, as_value), "{name:?}");
        };
        check("a\x1b[2Jb", "a\\x1b[2Jb", "a\\x1b[2Jb");
        check("\x1b]0;t\x07", "\\x1b]0;t\\x07", "\\x1b]0;t\\x07");
        check("\u{9b}2J\u{7f}", "\\u{9b}2J\\x7f", "\\u{9b}2J\\x7f");
        check("a\u{202e}b\u{2066}", "a\\u{202e}b\\u{2066}", "a\\u{202e}b\\u{2066}");
        check("a\u{200b}b\u{feff}", "a\\u{200b}b\\u{feff}", "a\\u{200b}b\\u{feff}");
        check("a\n\tb\r", "a\n\tb\\r", "a\\n\\tb\\r");
        check("\u{2028}", "\\u{2028}", "\\u{2028}");
        check("é 猫 👩\u{200d}🚀", "é 猫 👩\u{200d}🚀", "é 猫 👩\u{200d}🚀");
    }

    #[test]
    fn a_shell_reads_a_word() {
        let check = |name: &str, expected: Option<&str>| {
            assert_eq!(shell_word(name).as_deref(), expected, "{name:?}");
        };
        check("rabbit@a-1.b", Some("rabbit@a-1.b"));
        check("", Some("''"));
        check("$(id) `id`", Some("'$(id) `id`'"));
        check("it's", Some(r"'it'\''s'"));
        check("~", Some("'~'"));
        check("a\nid", None);
        check("a\x03id", None);
        check("a\u{202e}", None);
        assert_eq!(shell_quoted("it's $(id)\n"), "'it'\\''s $(id)\n'");
    }

    #[test]
    fn a_label_stays_well_formed() {
        assert_eq!(metrics("a{b=\"c\u{9b}\"} 1\n"), "a{b=\"c\\\\u{9b}\"} 1\n");
    }

    #[test]
    fn json_says_the_same_in_other_characters() {
        let hostile = "a\x1b\u{9b}\u{7f}\u{202e}\u{e0001}\nb";
        let written = serde_json::to_string_pretty(&[hostile]).unwrap();
        let safe = json(&written);
        assert!(!safe.chars().any(|c| is_obeyed(c) && c != '\n'), "{safe}");
        assert!(safe.contains("\\u009b\\u007f\\u202e"), "{safe}");
        assert_eq!(serde_json::from_str::<[String; 1]>(&safe).unwrap(), [hostile]);
    }
}
