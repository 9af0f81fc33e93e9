//! Assembles several Erlang files into the text of one module.
//!
//! Each file is a module that compiles by itself. The node compiles the assembled text without a preprocessor, so no
//! include may remain in it.

/// One file of the module.
pub(crate) struct Part {
    /// Name of its module.
    pub(crate) module: String,
    /// The part in Erlang.
    pub(crate) text: String,
}

/// Returns the text of one module: the first part with its attributes, the other parts without theirs.
///
/// Calls `part:function(…)` become `function(…)`. `header` returns the text of an included file; a header that several
/// parts include appears once.
pub(crate) fn assembled(parts: &[Part], header: &mut dyn FnMut(&str) -> String) -> String {
    let mut included = Vec::new();
    let mut text = String::new();
    for (index, part) in parts.iter().enumerate() {
        let mut in_attribute = false;
        for line in part.text.lines() {
            in_attribute |= index > 0 && is_attribute_of_module(line);
            if in_attribute {
                in_attribute = !line.trim_end().ends_with('.');
            } else if let Some(name) = included_file(line) {
                if !included.contains(&name) {
                    text.push_str(&header(name));
                    included.push(name);
                }
            } else {
                text.push_str(&with_local_calls(line, parts));
                text.push('\n');
            }
        }
        text.push('\n');
    }
    text
}

fn is_attribute_of_module(line: &str) -> bool {
    line.starts_with("-module(") || line.starts_with("-export(")
}

/// Returns the file name in a line such as `-include("calltree.hrl").`
fn included_file(line: &str) -> Option<&str> {
    line.strip_prefix("-include(\"")?.strip_suffix("\").")
}

/// Removes the parts' module names from calls in this line.
fn with_local_calls(line: &str, parts: &[Part]) -> String {
    parts.iter().fold(line.to_owned(), |line, part| without_module(&line, &part.module))
}

fn without_module(line: &str, module: &str) -> String {
    let call = format!("{module}:");
    let mut text = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(&call) {
        let (before, after) = (&rest[..at], &rest[at + call.len()..]);
        let is_name = !before
            .ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '@')
            && after.starts_with(|c: char| c.is_ascii_lowercase());
        text.push_str(before);
        if !is_name {
            text.push_str(&call);
        }
        rest = after;
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(parts: &[(&str, &str)], expected: &str) {
        let parts: Vec<Part> = parts
            .iter()
            .map(|(module, text)| Part { module: (*module).to_owned(), text: (*text).to_owned() })
            .collect();
        let text = assembled(&parts, &mut |name| format!("% {name}\n"));
        assert_eq!(text, expected);
    }

    #[test]
    fn parts_lose_their_attributes_and_calls_between_them_become_local() {
        check(
            &[
                ("a", "-module(a).\n-export([f/0]).\nf() -> b:g() + lists:sum(fun b:g/0)."),
                (
                    "b",
                    "%% What b does.\n-module(b).\n-export([g/0,\n    h/0]).\n\ng() -> a:f().\nh() -> ok.",
                ),
            ],
            "-module(a).\n-export([f/0]).\nf() -> g() + lists:sum(fun g/0).\n\n\
             %% What b does.\n\ng() -> f().\nh() -> ok.\n\n",
        );
    }

    #[test]
    fn only_whole_names_of_parts_are_removed() {
        check(
            &[("a", "f() -> ab:c(), ba:c(), x_a:c(), a: b, 'a':b().")],
            "f() -> ab:c(), ba:c(), x_a:c(), a: b, 'a':b().\n\n",
        );
    }

    #[test]
    fn a_header_appears_once_where_it_is_included_first() {
        check(
            &[("a", "-include(\"r.hrl\").\na() -> 1."), ("b", "-include(\"r.hrl\").\nb() -> 2.")],
            "% r.hrl\na() -> 1.\n\nb() -> 2.\n\n",
        );
    }
}
