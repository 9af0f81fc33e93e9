//! Comparison of our parser with PerfTest's own on the same lines. Needs Java and Maven; reports itself as not run
//! without them.

use std::{
    env, fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use super::misspelt;
use crate::arguments::{Arguments, parser};

/// Words before and after the tested word.
const AROUND: [(&str, &str); 12] = [
    ("", ""),
    ("", "4"),
    ("", "-x"),
    ("-x 4", ""),
    ("-x", "4"),
    ("-f persistent", "4"),
    ("-f", "-x 4"),
    ("-e", "-a"),
    ("-apx4 word", "4 5"),
    ("-u q -c 10", "-r 5"),
    ("--", "-x"),
    ("-qa=a=b -vr", "4"),
];

/// Forms that misspelling does not produce.
const FORMS: &str = "- -- --- -= --= ---a -=5 --=5 -x4 -x=4 -x= --x=4 --x -x-4 -x-1 -1 -1.5 -4x -e4 -e=4 -e= -eFOO -aa -ap -apx4 \
     -apx -xa -a=5 --autoack=5 --autoack= -autoack=5 -producers=4 -producers4 -producers44 -producers -producers= --producers=4=5 \
     -prod --prod -size10 -size1 -size=10 -sizes -rate100 -fpersistent -f=persistent -fa=b -fa -foo=bar -afx -fx4 -qa=1 -qax=1 \
     -qpf4 -mlb20gb -vr5:5 -verbose --verbose -verb --verb --verbose-f -verbose=1 -v4 -h= -H=a,b --uri --uris --uri=x -uri=x -urix \
     -rate -rat --e --E --he -z5 -zz -? -?a --? --help -metrics --metrics-pro -mpr8080 --Producers -Producers -X4 \"q\" \"a\"b\" \"\" \
     -\u{e9} --\u{e9} -x\u{e9} -producers\u{1f600} -producers\u{e9}4 --queue-pattern --queue-p -queue-pattern-f -queue-pattern4 -idx -idxx --i";

const PROBE: &str = include_str!("../../../tests/Parse.java");

/// Returns the directory of PerfTest's jars, or the reason why there is none.
fn jars() -> Result<PathBuf, String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/perf-test.sh");
    let mut fetch = Command::new("timeout");
    let output = fetch.arg("300").arg(script).stdin(Stdio::null()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).trim().to_owned();
    if output.status.success() { Ok(text(output.stdout).into()) } else { Err(text(output.stderr)) }
}

/// Returns the result of PerfTest's parser for each line.
fn by_perftest(jars: &Path, lines: &[Vec<String>]) -> Vec<String> {
    let directory = tempfile::tempdir().unwrap();
    let probe = directory.path().join("Parse.java");
    fs::write(&probe, PROBE).unwrap();
    let mut java = Command::new("java");
    java.args(["-Xmx256m", "-XX:TieredStopAtLevel=1", "-Dfile.encoding=UTF-8", "-cp"]);
    let mut java = java
        .arg(format!("{}/*", jars.display()))
        .arg(&probe)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = java.stdin.take().unwrap();
    let lines: Vec<_> = lines.iter().map(|words| words.join("\t")).collect();
    let text = lines.join("\n") + "\n";
    let writing = std::thread::spawn(move || input.write_all(text.as_bytes()).unwrap());
    let output = java.wait_with_output().unwrap();
    writing.join().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

fn by_us(words: &[String]) -> String {
    match parser::parse(words) {
        Ok(arguments) => text(&arguments),
        Err(_) => "refused".to_owned(),
    }
}

fn text(arguments: &Arguments) -> String {
    let options =
        arguments.options().map(|(name, values)| format!("{name}={}", values.join("\u{1}")));
    let ignored = arguments.ignored().join("\u{1}");
    options.chain([ignored]).collect::<Vec<_>>().join("\t")
}

fn lines() -> Vec<Vec<String>> {
    let forms = FORMS.split_whitespace().map(str::to_owned);
    let words: Vec<String> = misspelt::words().into_iter().chain(forms).collect();
    let with_value = words.iter().map(|word| format!("{word}=7"));
    let words: Vec<String> = words.iter().cloned().chain(with_value).collect();
    let line = |before: &str, word: &str, after: &str| {
        let words = before.split_whitespace().chain([word]).chain(after.split_whitespace());
        words.map(str::to_owned).collect()
    };
    AROUND
        .iter()
        .flat_map(|(before, after)| words.iter().map(|word| line(before, word, after)))
        .collect()
}

#[test]
fn lines_are_read_as_perftest_reads_them() {
    let jars = match jars() {
        Ok(jars) => jars,
        Err(reason) => {
            let _ = writeln!(
                std::io::stderr().lock(),
                "\nnot run: lines_are_read_as_perftest_reads_them: {reason}"
            );
            return;
        }
    };
    let lines = lines();
    let theirs = by_perftest(&jars, &lines);
    assert_eq!(theirs.len(), lines.len());
    let differing: Vec<_> = lines
        .iter()
        .zip(&theirs)
        .map(|(line, theirs)| (line, theirs, by_us(line)))
        .filter(|(_, theirs, ours)| *theirs != ours)
        .collect();
    let refused = theirs.iter().filter(|read| *read == "refused").count();
    let _ = writeln!(
        std::io::stderr().lock(),
        "{} lines, of which PerfTest refuses {refused}",
        lines.len()
    );
    let shown: Vec<_> = differing.iter().take(20).collect();
    assert!(differing.is_empty(), "{} of {} differ: {shown:#?}", differing.len(), lines.len());
    assert!(refused > 10_000);
}
