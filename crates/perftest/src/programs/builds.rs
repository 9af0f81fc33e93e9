//! PerfTest as a Java program: started by `java`, `runjava`, Maven or make.

use super::{
    found::{Call, Step, Stepped, finish, refused},
    names::{self, Name},
    shell::{self, Word},
};
use crate::Program;

/// Options of `java` with a separate value.
const JAVA: [&str; 11] = [
    "-cp",
    "-classpath",
    "--class-path",
    "-p",
    "--module-path",
    "--add-modules",
    "--add-opens",
    "--add-exports",
    "--add-reads",
    "--limit-modules",
    "--upgrade-module-path",
];

/// Options of `make` with a separate value.
const MAKE: [&str; 9] = ["-C", "-f", "-I", "-j", "-l", "-o", "-W", "--directory", "--file"];

/// Resolves `java -jar perf-test.jar …` and `java -cp … com.rabbitmq.perf.PerfTest …`.
pub(super) fn java(mut words: &[Word], call: Call) -> Stepped {
    while let Some((word, rest)) = words.split_first() {
        match word.text.as_str() {
            "-jar" => return jar(rest, call),
            option if JAVA.contains(&option) => words = rest.get(1..).unwrap_or_default(),
            option if option.starts_with('-') => words = rest,
            _ => return main_class(words, call),
        }
    }
    Ok(Step::Other)
}

fn jar(words: &[Word], call: Call) -> Stepped {
    let Some((jar, rest)) = words.split_first() else { return Ok(Step::Other) };
    let found = match names::for_image(&jar.text) {
        // The jar has the classes of both, and begins PerfTest.
        Name::Multi => Name::PerfTest,
        name => name,
    };
    if names::is_wanted(found, call.program)? {
        return finish(rest, call).map(Step::Found);
    }
    let (jar, program) = (names::base(&jar.text), call.program);
    let reason =
        format!("`{jar}` is not known as a jar of {} (`{}.jar`)", program.name(), program.file());
    Err(refused(&format!("{reason}: if it is one, give only the words after it")))
}

/// Resolves a class and its words.
pub(super) fn main_class(words: &[Word], call: Call) -> Stepped {
    let Some((class, rest)) = words.split_first() else { return Ok(Step::Other) };
    let is_it = names::is_wanted(names::for_class(&class.text), call.program)?;
    if is_it { finish(rest, call).map(Step::Found) } else { Ok(Step::Other) }
}

/// Resolves `mvn exec:java -Dexec.mainClass=com.rabbitmq.perf.PerfTest -Dexec.args="…"`.
pub(super) fn maven(words: &[Word], call: Call) -> Stepped {
    let property = |name: &str| {
        let mut values = words.iter().enumerate().filter_map(|(index, word)| {
            let text = match word.text.as_str() {
                "-D" | "--define" => words.get(index + 1)?.text.as_str(),
                text => text.strip_prefix("-D")?,
            };
            text.strip_prefix(name)?.strip_prefix('=')
        });
        values.next_back()
    };
    let is_run =
        |word: &Word| word.text.starts_with("exec:") || word.text.contains("exec-maven-plugin");
    if !words.iter().any(is_run) {
        return Ok(Step::Other);
    }
    let usual = if call.program == Program::PerfTest { "PerfTest" } else { "StreamPerfTest" };
    let class = property("exec.mainClass").unwrap_or(usual);
    if !names::is_wanted(names::for_class(class), call.program)? {
        return Ok(Step::Other);
    }
    let arguments = property("exec.args").or(property("exec.arguments")).unwrap_or_default();
    finish(&shell::words(arguments)?, call).map(Step::Found)
}

/// Resolves `make run ARGS="…"`.
pub(super) fn make(words: &[Word], call: Call) -> Stepped {
    let mut targets = Vec::new();
    let mut arguments =
        call.environment.iter().rfind(|(name, _)| name == "ARGS").map(|(_, value)| value.clone());
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        match word.assignment() {
            Some(("ARGS", value)) => arguments = Some(value.to_owned()),
            Some(_) => {}
            None if MAKE.contains(&word.text.as_str()) => drop(rest.next()),
            None if word.text.starts_with('-') => {}
            None => targets.push(word.text.as_str()),
        }
    }
    if targets != ["run"] {
        return Ok(Step::Other);
    }
    finish(&shell::words(&arguments.unwrap_or_default())?, call).map(Step::Found)
}
