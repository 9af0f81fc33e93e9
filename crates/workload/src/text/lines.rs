//! Tables, values and comments as text.

use rabbitscope_text::display_size;

/// Width of comments.
const WIDTH: usize = 100;

/// The lines of a file.
#[derive(Debug, Default)]
pub(super) struct Lines(String);

impl Lines {
    pub(super) fn into_text(self) -> String {
        self.0
    }

    pub(super) fn blank(&mut self) {
        self.0.push('\n');
    }

    /// Adds a comment in as many lines as it needs. Further lines begin below the text of the first.
    pub(super) fn comment(&mut self, text: &str) {
        let indent = if text.starts_with("- ") { "  " } else { "" };
        let mut line = String::new();
        for word in text.split_whitespace() {
            if !line.is_empty() && line.len() + word.len() + 3 > WIDTH {
                self.line(&format!("# {line}"));
                indent.clone_into(&mut line);
            } else if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        self.line(format!("# {line}").trim_end());
    }

    pub(super) fn table(&mut self, name: &str) {
        self.line(&format!("[[{name}]]"));
    }

    pub(super) fn line(&mut self, text: &str) {
        self.0.push_str(text);
        self.0.push('\n');
    }

    /// Adds a key with a value that is written already.
    pub(super) fn key(&mut self, key: &str, value: &str) {
        self.line(&format!("{key} = {value}"));
    }

    /// Adds a key with a list of values that are written already, in as many lines as it needs.
    pub(super) fn list(&mut self, key: &str, values: impl IntoIterator<Item = String>) {
        self.line(&format!("{key} = ["));
        let mut line = String::new();
        for value in values {
            if !line.is_empty() && line.len() + value.len() + 6 > WIDTH {
                self.line(&format!("   {line}"));
                line.clear();
            }
            line.extend([" ", &value, ","]);
        }
        self.line(&format!("   {line}"));
        self.line("]");
    }

    pub(super) fn text(&mut self, key: &str, value: &str) {
        self.key(key, &quoted(value));
    }

    pub(super) fn number(&mut self, key: &str, value: usize) {
        self.key(key, &value.to_string());
    }
}

/// Returns a text in quotes.
pub(super) fn quoted(text: &str) -> String {
    let json = serde_json::to_string(text).unwrap_or_default();
    json.replace('\u{7f}', "\\u007f")
}

/// Returns a list of texts.
pub(super) fn list<'a>(texts: impl IntoIterator<Item = &'a String>) -> String {
    let quoted: Vec<String> = texts.into_iter().map(|text| quoted(text)).collect();
    format!("[{}]", quoted.join(", "))
}

/// Returns a figure with four significant digits.
pub(super) fn figure(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return "0".to_owned();
    }
    let magnitude = value.abs().log10().floor();
    let decimals = (3.0 - magnitude).clamp(0.0, 6.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 6")]
    let decimals = decimals as usize;
    let mut text = format!("{value:.decimals$}");
    if text.contains('.') {
        text.truncate(text.trim_end_matches('0').trim_end_matches('.').len());
    }
    text
}

/// Returns a share in percent.
pub(super) fn percent(share: f64) -> String {
    format!("{} %", figure((share * 1_000.0).round() / 10.0))
}

/// Returns a time in quotes, rounded to four significant digits.
pub(super) fn time(nanos: f64) -> String {
    quoted(&time_text(nanos))
}

/// Returns a time rounded to four significant digits.
pub(super) fn time_text(nanos: f64) -> String {
    let nanos = nanos.max(1.0);
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns")];
    let unit = units.into_iter().find(|(length, _)| nanos >= *length);
    let (length, name) = unit.unwrap_or((1.0, "ns"));
    format!("{}{name}", figure(nanos / length))
}

/// Returns a size in quotes.
pub(super) fn size(bytes: u64) -> String {
    quoted(&display_size(bytes).to_string())
}

/// Returns `1 thing` or `2 things`.
pub(super) fn counted(count: u64, thing: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", rabbitscope_text::grouped(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_four_digits() {
        fn check(value: f64, expected: &str) {
            assert_eq!(figure(value), expected);
        }
        check(99.983_2, "99.98");
        check(100.0, "100");
        check(12_345.6, "12346");
        check(0.001_234_56, "0.001235");
        check(0.0, "0");
        assert_eq!(percent(0.3333), "33.3 %");
        assert_eq!(time_text(10_012_345.0), "10.01ms");
        assert_eq!(time_text(500_000_000.0), "500ms");
        assert_eq!(time_text(0.3), "1ns");
    }

    #[test]
    fn comments_are_wrapped() {
        let mut lines = Lines::default();
        lines.comment(&format!("- {}", "word ".repeat(30)));
        let text = lines.into_text();
        assert!(text.lines().count() == 2 && text.lines().all(|line| line.len() <= WIDTH));
        assert!(text.lines().nth(1).unwrap().starts_with("#   word"), "{text}");
    }
}
