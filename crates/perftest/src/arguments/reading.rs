//! Reading of a command line: its words, and the variables of its environment.

use super::{
    Arguments, environment, parser,
    words::{self, Style},
};
use crate::{
    PerfTestError, Program,
    programs::{self, Call},
};

/// Parses a command line. The program's name and a command that starts it may precede the options.
pub(crate) fn read(command_line: &str) -> Result<Arguments, PerfTestError> {
    let call = programs::call(command_line, Program::PerfTest)?;
    let mut arguments = parser::parse(&call.words)?;
    if arguments.ignores("PerfTestMulti") {
        return Err(programs::multi());
    }
    apply(&call, &mut arguments);
    Ok(arguments)
}

/// Parses a command line of another program, whose library reads words like this.
pub(crate) fn read_words(
    command_line: &str,
    mut arguments: Arguments,
    style: Style,
) -> Result<Arguments, PerfTestError> {
    let call = programs::call(command_line, arguments.program())?;
    words::parse(&call.words, style, &mut arguments)?;
    apply(&call, &mut arguments);
    Ok(arguments)
}

/// Applies what surrounds the words: variables, and a limit of time.
fn apply(call: &Call, arguments: &mut Arguments) {
    call.notes.iter().for_each(|note| arguments.note(note.clone()));
    if arguments.program() != Program::Omq {
        environment::apply(&call.environment, arguments);
    }
    if let Some(seconds) = call.seconds {
        limit(seconds, arguments);
    }
}

/// Applies the time limit of `timeout`.
fn limit(seconds: u64, arguments: &mut Arguments) {
    if arguments.has("time") {
        arguments.note(format!("`timeout {seconds}` has no effect: --time sets the duration"));
    } else {
        arguments.note(format!("`timeout {seconds}` becomes the duration"));
        let unit = if arguments.program() == Program::Omq { "s" } else { "" };
        arguments.push("time", &format!("{seconds}{unit}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_in_every_form() {
        fn check(text: &str, option: &str, expected: Option<&str>) {
            let arguments = read(text).unwrap();
            assert_eq!(arguments.text(option), expected, "{text}");
        }
        check("-x 3", "producers", Some("3"));
        check("-x3", "producers", Some("3"));
        check("--producers=3", "producers", Some("3"));
        check("-c -1", "confirm", Some("-1"));
        check(
            "bin/runjava com.rabbitmq.perf.PerfTest -qp perf-test-%d",
            "queue-pattern",
            Some("perf-test-%d"),
        );
        check("docker run -it --rm pivotalrabbitmq/perf-test:latest -u q", "queue", Some("q"));
        check("java -jar perf-test.jar --id perf-test -u q", "id", Some("perf-test"));
        assert!(read("-x 1 -a").unwrap().has("autoack"));
        check("--queue-pattern-fr 4", "queue-pattern-from", Some("4"));
        check("-x 3 -x 4", "producers", Some("3"));
        check("-apx3", "producers", Some("3"));
        check("-e -u q", "exchange", None);
        check("-e '' -u q", "exchange", Some(""));
        assert!(read("-e -u q").unwrap().has("exchange"));
        let arguments = read("-f persistent mandatory -p true -qa a=1 b=2 -y 2").unwrap();
        assert!(
            arguments.flag("persistent")
                && arguments.flag("mandatory")
                && arguments.has("predeclared")
        );
        assert_eq!(arguments.all("queue-args"), ["a=1", "b=2"]);
        assert_eq!(arguments.ignored(), ["true"]);
        assert_eq!(read("-c -1").unwrap().number("confirm").unwrap(), Some(-1));
        let wrong = ["-x", "-u -x 1", "--queue- 1", "--nonsense 1", "sing", "--autoack=5", "-!"];
        let misspelt =
            ["-x 4 --autoak", "-r 100 --confrim 10", "-a=5", "-ax", "--=4", "-z 5 --tmie=5"];
        for wrong in wrong.into_iter().chain(misspelt) {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
