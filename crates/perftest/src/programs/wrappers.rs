//! Programs and shell keywords that run the command after them.

use super::{
    flags::{self, Flags},
    found::{Call, Step, Stepped, assign, refused},
    names,
    shell::Word,
};
use crate::PerfTestError;

/// Name, options with a value, number of own words before the command.
type Wrapper = (&'static str, &'static [&'static str], usize);

const SUDO: &[&str] = &[
    "-u",
    "-g",
    "-h",
    "-p",
    "-C",
    "-r",
    "-t",
    "-T",
    "-U",
    "-D",
    "-R",
    "--user",
    "--group",
    "--host",
    "--prompt",
    "--chdir",
    "--chroot",
    "--role",
    "--type",
    "--command-timeout",
    "--close-from",
];

const WRAPPERS: [Wrapper; 24] = [
    ("sudo", SUDO, 0),
    ("doas", &["-u", "-C"], 0),
    ("time", &["-f", "-o", "--format", "--output"], 0),
    ("nohup", &[], 0),
    ("exec", &["-a"], 0),
    ("command", &[], 0),
    ("builtin", &[], 0),
    ("setsid", &[], 0),
    ("unbuffer", &[], 0),
    ("nice", &["-n", "--adjustment"], 0),
    ("ionice", &["-c", "-n", "--class", "--classdata"], 0),
    ("stdbuf", &["-i", "-o", "-e", "--input", "--output", "--error"], 0),
    ("env", &["-u", "-C", "--unset", "--chdir"], 0),
    ("timeout", &["-k", "-s", "--kill-after", "--signal"], 1),
    ("taskset", &[], 1),
    ("chrt", &["-T", "-P", "-D"], 1),
    ("chroot", &[], 1),
    ("do", &[], 0),
    ("then", &[], 0),
    ("else", &[], 0),
    ("!", &[], 0),
    ("{", &[], 0),
    ("$", &[], 0),
    ("while", &[], 0),
];

/// Finds the call after a wrapper, or in the text for a shell.
pub(super) fn wrapped(name: &str, words: &[Word], mut call: Call) -> Stepped {
    if ["sh", "bash", "dash", "zsh", "ash"].contains(&name) {
        return shell(words, call);
    }
    let Some((name, valued, own)) = WRAPPERS.iter().find(|(known, ..)| *known == name) else {
        return Ok(Step::Other);
    };
    let (found, mut rest) = flags::split(name, words, &Flags { valued, plain: &[] })?;
    if *name == "env" {
        environment(&found, &mut call)?;
    }
    if *own > 0 {
        let Some((first, behind)) = rest.split_first() else { return Ok(Step::Other) };
        rest = behind;
        if *name == "timeout" {
            call.seconds = seconds(&first.text)?;
        }
    }
    // These programs accept variables that a shell would not take as assignments.
    while let Some((word, behind)) = rest.split_first().filter(|(word, _)| {
        ["env", "sudo"].contains(name) && word.text.find('=').is_some_and(|sign| sign > 0)
    }) {
        assign(word, &mut call)?;
        rest = behind;
    }
    Ok(Step::command(rest, call))
}

/// Removes the variables of `env -i` and `env -u NAME`.
fn environment(found: &[(String, Option<Word>)], call: &mut Call) -> Result<(), PerfTestError> {
    for (option, value) in found {
        match (option.as_str(), value) {
            ("-i" | "--ignore-environment", _) => call.environment.clear(),
            ("-u" | "--unset", Some(name)) => {
                call.environment.retain(|(known, _)| *known != name.text);
            }
            ("-S" | "--split-string", _) => {
                return Err(refused("`env -S` is not supported: give only the words after it"));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Parses `60`, `1.5m`, `2h`, rounded up to whole seconds; 0 means no limit.
fn seconds(text: &str) -> Result<Option<u64>, PerfTestError> {
    let units = [('s', 1.0), ('m', 60.0), ('h', 3600.0), ('d', 86_400.0)];
    let unit = units.iter().find(|(unit, _)| text.ends_with(*unit));
    let number = unit.map_or(text, |(unit, _)| text.trim_end_matches(*unit));
    let seconds = number.parse::<f64>().ok().map(|number| number * unit.map_or(1.0, |unit| unit.1));
    let seconds = seconds.filter(|seconds| (0.0..1e9).contains(seconds));
    let Some(seconds) = seconds else {
        return Err(refused(&format!("timeout: `{text}` is no duration, such as `60` or `5m`")));
    };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within 0 and 1e9")]
    let whole = seconds.ceil() as u64;
    Ok(Some(whole).filter(|seconds| *seconds > 0))
}

/// Resolves `sh -c "perf-test -x 1"` and `sh bin/runjava …`.
fn shell(words: &[Word], call: Call) -> Stepped {
    let (found, rest) = flags::split("sh", words, &Flags { valued: &["-o", "-O"], plain: &[] })?;
    let is_text = found.iter().any(|(option, _)| option == "-c");
    match rest.first() {
        None => Ok(Step::Other),
        Some(script) if is_text => Ok(Step::Text(script.text.clone(), call)),
        Some(script) if ["sh", "bash"].contains(&names::base(&script.text)) => Ok(Step::Other),
        Some(_) => Ok(Step::command(rest, call)),
    }
}
