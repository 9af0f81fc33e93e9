//! Separation of a command line by a shell's rules: commands, and their words without quotes. Nothing is substituted.

use std::{iter::Peekable, str::Chars};

use crate::PerfTestError;

/// A word of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    /// Number of leading bytes outside quotes and backslashes.
    plain: usize,
    /// The first substitution that only a shell can make, such as `$NAME` or `$(command)`.
    pub(super) substitution: Option<String>,
}

impl Word {
    /// Creates a word with a part of this one's text.
    pub(super) fn part(&self, text: &str) -> Self {
        Self { text: text.to_owned(), ..self.clone() }
    }

    /// Returns name and value of `NAME=value` if a shell would take it as an assignment.
    pub(super) fn assignment(&self) -> Option<(&str, &str)> {
        let (name, value) = self.text.split_once('=')?;
        let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let is_name =
            name.chars().all(is_letter) && name.starts_with(|c: char| !c.is_ascii_digit());
        (is_name && self.plain > name.len()).then_some((name, value))
    }
}

/// Words up to an operator or the end of a line.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Command {
    pub(super) words: Vec<Word>,
    /// The previous command ended with its line.
    pub(super) begins_line: bool,
}

/// Separates a text into commands. Redirections and comments are dropped.
pub(super) fn commands(text: &str) -> Result<Vec<Command>, PerfTestError> {
    let mut reader = Reader { letters: text.chars().peekable(), ..Reader::default() };
    while let Some(letter) = reader.letters.next() {
        reader.letter(letter)?;
    }
    reader.end_command(false);
    Ok(reader.commands)
}

/// Returns the words of a text that no shell reads, such as the value of `-Dexec.args`.
pub(super) fn words(text: &str) -> Result<Vec<Word>, PerfTestError> {
    Ok(commands(text)?.into_iter().flat_map(|command| command.words).collect())
}

struct Reader<'t> {
    letters: Peekable<Chars<'t>>,
    commands: Vec<Command>,
    command: Command,
    word: Option<Word>,
    /// The next word is the file of a redirection.
    is_file: bool,
}

impl Default for Reader<'_> {
    fn default() -> Self {
        Self {
            letters: "".chars().peekable(),
            commands: Vec::new(),
            command: Command::default(),
            word: None,
            is_file: false,
        }
    }
}

impl Reader<'_> {
    fn letter(&mut self, letter: char) -> Result<(), PerfTestError> {
        match letter {
            '\'' | '"' => self.quoted(letter)?,
            '\\' => self.escaped(),
            '$' | '`' => self.substitution(letter),
            '\n' => self.end_command(true),
            '&' if self.letters.peek() == Some(&'>') => self.end_word(),
            '|' | ';' | '&' | '(' | ')' => self.end_command(false),
            '<' | '>' => self.redirection(),
            '#' if self.word.is_none() => {
                while self.letters.next_if(|letter| *letter != '\n').is_some() {}
            }
            _ if letter.is_whitespace() => self.end_word(),
            _ => {
                let word = self.word.get_or_insert_default();
                if word.plain == word.text.len() {
                    word.plain += letter.len_utf8();
                }
                word.text.push(letter);
            }
        }
        Ok(())
    }

    fn quoted(&mut self, quote: char) -> Result<(), PerfTestError> {
        self.word.get_or_insert_default();
        loop {
            let Some(letter) = self.letters.next() else {
                let reason = format!("the command line: a quote ({quote}) is not closed");
                return Err(PerfTestError::CommandLine(reason));
            };
            match letter {
                _ if letter == quote => return Ok(()),
                '$' | '`' if quote == '"' => self.substitution(letter),
                '\\' if quote == '"' => {
                    match self.letters.next_if(|next| "\"\\$`\n".contains(*next)) {
                        Some('\n') => {}
                        next => self.push(next.unwrap_or('\\')),
                    }
                }
                _ => self.push(letter),
            }
        }
    }

    /// Adds a literal character.
    fn push(&mut self, letter: char) {
        self.word.get_or_insert_default().text.push(letter);
    }

    /// Adds the character after a backslash. A backslash at the end of a line continues the line.
    fn escaped(&mut self) {
        self.letters.next_if_eq(&'\r');
        match self.letters.next() {
            Some('\n') | None => {}
            Some(letter) => self.push(letter),
        }
    }

    fn substitution(&mut self, first: char) {
        let next = self.letters.peek().copied().unwrap_or(' ');
        let close = match (first, next) {
            ('`', _) => '`',
            (_, '(') => ')',
            (_, '{') => '}',
            (_, '_' | '@' | '*' | '#' | '?' | '!' | '$' | '\'') => ' ',
            _ if next.is_ascii_alphanumeric() => ' ',
            _ => return self.push(first),
        };
        let mut text = String::from(first);
        let mut depth = 0_usize;
        while let Some(letter) = self.letters.next_if(|letter| {
            close != ' ' || text.len() == 1 || letter.is_ascii_alphanumeric() || *letter == '_'
        }) {
            text.push(letter);
            depth += usize::from(close != '`' && letter == next);
            depth = depth.saturating_sub(usize::from(letter == close));
            if letter == close && depth == 0 {
                break;
            }
        }
        let word = self.word.get_or_insert_default();
        word.text.push_str(&text);
        word.substitution.get_or_insert(text);
    }

    /// Reads `>`, `2>>`, `>&1` or `<`; the next word is a file name.
    fn redirection(&mut self) {
        let is_number = |word: &mut Word| {
            word.plain == word.text.len() && word.text.bytes().all(|byte| byte.is_ascii_digit())
        };
        if self.word.take_if(is_number).is_none() {
            self.end_word();
        }
        while self.letters.next_if(|letter| "<>&|".contains(*letter)).is_some() {}
        self.is_file = true;
    }

    fn end_word(&mut self) {
        if let Some(word) = self.word.take()
            && !std::mem::take(&mut self.is_file)
        {
            self.command.words.push(word);
        }
    }

    fn end_command(&mut self, is_line: bool) {
        self.end_word();
        self.is_file = false;
        let next = Command { begins_line: is_line, ..Command::default() };
        let command = std::mem::replace(&mut self.command, next);
        if !command.words.is_empty() {
            self.commands.push(command);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(command: &Command) -> Vec<&str> {
        command.words.iter().map(|word| word.text.as_str()).collect()
    }

    #[test]
    fn words_are_those_of_a_shell() {
        fn check(text: &str, expected: &[&[&str]]) {
            let commands = commands(text).unwrap();
            assert_eq!(commands.iter().map(texts).collect::<Vec<_>>(), expected, "{text}");
        }
        check("  a  b ", &[&["a", "b"]]);
        check("-u 'a b' \"c \\\" d\"e", &[&["-u", "a b", "c \" de"]]);
        check("a\\ b '' \\\n c", &[&["a b", "", "c"]]);
        check("a \\\r\n c \"x\\y\" \"p\\$q\"", &[&["a", "c", "x\\y", "p$q"]]);
        check("a | b -c; d & e && f || g", &[&["a"], &["b", "-c"], &["d"], &["e"], &["f"], &["g"]]);
        check("a 2>&1 | tee -a log", &[&["a"], &["tee", "-a", "log"]]);
        check("a >f b 2>/dev/null c &> g d <in e >> 'x y' f", &[&["a", "b", "c", "d", "e", "f"]]);
        check("a2>f b", &[&["a2", "b"]]);
        check("a '|' \";\" \\& b#c # d\ne", &[&["a", "|", ";", "&", "b#c"], &["e"]]);
        check("(a b)", &[&["a", "b"]]);
        check("", &[]);
        assert!(commands("'open").is_err() && commands("\"open").is_err());
    }

    #[test]
    fn what_a_shell_would_replace_is_known() {
        fn check(text: &str, expected: Option<&str>) {
            let words = words(text).unwrap();
            assert_eq!(words.len(), 1, "{text}: {words:?}");
            assert_eq!(words[0].substitution.as_deref(), expected, "{text}");
        }
        check("amqp://$HOST/v", Some("$HOST"));
        check("\"${HOST:-a b}\"x", Some("${HOST:-a b}"));
        check("$(a (b) c)d", Some("$(a (b) c)"));
        check("`a b`", Some("`a b`"));
        check("'$HOST'", None);
        check("a\\$HOST", None);
        check("a$", None);
        check("$1", Some("$1"));
    }

    #[test]
    fn assignments_are_those_of_a_shell() {
        fn check(text: &str, expected: Option<(&str, &str)>) {
            assert_eq!(words(text).unwrap()[0].assignment(), expected, "{text}");
        }
        check("A=b", Some(("A", "b")));
        check("A_1='b c'", Some(("A_1", "b c")));
        check("'A'=b", None);
        check("1A=b", None);
        check("-A=b", None);
        check("=b", None);
    }
}
