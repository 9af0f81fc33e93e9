//! Profiles of other programs, compared with the output of their own tools for the same files.

use std::{
    collections::BTreeMap,
    fs,
    io::Write,
    path::Path,
    process::{Command, Output},
};

use flate2::{Compression, write::GzEncoder};
use rabbitscope_testing::{Workbench, not_run};

/// Two functions that take three parts and one part of the time, for a number of turns.
const PROGRAM: &str = "#include <stdlib.h>
volatile unsigned long sink;
__attribute__((noinline)) void FIRST(long n) { for (long i = 0; i < 3 * n; i++) sink += i; }
__attribute__((noinline)) void SECOND(long n) { for (long i = 0; i < n; i++) sink += i; }
int main(int argc, char **argv) {
    for (long turn = atol(argv[1]); turn > 0; turn--) { FIRST(1000000); SECOND(1000000); }
    return 0;
}
";

fn run(bench: &Workbench, command: &str) -> Output {
    let mut shell = Command::new("sh");
    // Only this test uses perf's copies of the recorded files.
    shell.env("HOME", bench.path(""));
    shell.args(["-c", command]).current_dir(bench.path("")).output().unwrap()
}

fn is_there(program: &str) -> bool {
    let version = if program == "cc" { "--version" } else { "version" };
    Command::new(program).arg(version).output().is_ok_and(|output| output.status.success())
}

fn build(bench: &Workbench, name: &str, functions: [&str; 2]) {
    let [first, second] = functions;
    let text = PROGRAM.replace("FIRST", first).replace("SECOND", second);
    bench.file("program.c", &text);
    let built = run(bench, &format!("cc -O1 -Wl,--build-id -o {name} program.c"));
    assert!(built.status.success(), "{built:?}");
}

/// Returns the shares of functions according to `perf report`.
fn by_perf(bench: &Workbench) -> BTreeMap<String, f64> {
    let report = run(
        bench,
        "perf report -i perf.data --no-children --sort sym --stdio -g none 2>report.err",
    );
    let text = String::from_utf8_lossy(&report.stdout).into_owned();
    let share = |line: &str| {
        let (share, rest) = line.trim().split_once('%')?;
        let name = rest.trim().strip_prefix("[.] ")?;
        Some((name.trim().to_owned(), share.parse().ok()?))
    };
    text.lines().filter_map(share).collect()
}

/// Returns the shares of innermost functions according to rabbitscope.
fn by_rabbitscope(bench: &Workbench) -> BTreeMap<String, f64> {
    let mut command = bench.command("flamegraph perf.data -o out.folded");
    command.env("HOME", bench.path(""));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = bench.read("out.folded");
    let lines: Vec<(&str, f64)> = text
        .lines()
        .map(|line| line.rsplit_once(' ').unwrap())
        .map(|(stack, weight)| (stack.rsplit(';').next().unwrap(), weight.parse().unwrap()))
        .collect();
    let total: f64 = lines.iter().map(|(_, weight)| weight).sum();
    let mut shares = BTreeMap::new();
    for (name, weight) in lines {
        *shares.entry(name.to_owned()).or_default() += 100.0 * weight / total;
    }
    shares
}

#[track_caller]
fn check_like_perf(bench: &Workbench, what: &str, functions: [&str; 2], least: f64) {
    let (perf, ours) = (by_perf(bench), by_rabbitscope(bench));
    for function in functions {
        let share = |shares: &BTreeMap<String, f64>| shares.get(function).copied().unwrap_or(0.0);
        let (expected, found) = (share(&perf), share(&ours));
        assert!((expected - found).abs() <= 1.0, "{what}: {function}: {ours:?}, perf: {perf:?}");
    }
    let share: f64 = functions.iter().filter_map(|function| ours.get(*function)).sum();
    assert!(share > least, "{what}: {ours:?}");
}

/// The file at a recorded program's path is no longer the recorded one.
#[test]
fn programs_that_changed_since_are_named_as_perf_names_them() {
    if !is_there("perf") || !is_there("cc") {
        return not_run("perf or a C compiler is not installed");
    }
    let bench = Workbench::new("changed");
    let functions = ["alpha", "beta"];
    let record = "perf record -q -F 1999 -e cpu-clock -g -o perf.data";
    let recorded = |command: &str| {
        let output = run(&bench, command);
        assert!(output.status.success(), "{output:?}");
    };
    let changes: [(&str, &dyn Fn()); 4] = [
        ("unchanged", &|| {}),
        ("rebuilt with its functions swapped", &|| build(&bench, "x", ["beta", "alpha"])),
        ("moved", &|| fs::rename(bench.path("x"), bench.path("y")).unwrap()),
        ("deleted", &|| fs::remove_file(bench.path("x")).unwrap()),
    ];
    for (what, change) in changes {
        build(&bench, "x", functions);
        recorded(&format!("{record} ./x 150"));
        change();
        check_like_perf(&bench, what, functions, 80.0);
    }
    build(&bench, "x", functions);
    recorded(&format!("{record} -a -- sh -c 'sleep 0.2; ./x 150; ./x 100'"));
    check_like_perf(&bench, "started during the recording", functions, 5.0);
}

/// Without perf's copies, nothing names a program that is gone.
#[test]
fn another_build_names_nothing() {
    if !is_there("perf") || !is_there("cc") {
        return not_run("perf or a C compiler is not installed");
    }
    let bench = Workbench::new("rebuilt");
    build(&bench, "x", ["alpha", "beta"]);
    let output = run(&bench, "perf record -q -N -F 1999 -e cpu-clock -o perf.data ./x 100");
    assert!(output.status.success(), "{output:?}");
    build(&bench, "x", ["gamma", "delta"]);
    let ended = bench.rabbitscope("flamegraph perf.data -o out.folded").code(0);
    let text = bench.read("out.folded");
    assert!(["alpha", "beta", "gamma", "delta"].iter().all(|name| !text.contains(name)), "{text}");
    assert!(text.contains("[x]"), "{text}");
    ended.says(&["missing or changed since the recording"]);
}

/// Periods of page faults differ by hundreds.
#[test]
fn weights_of_a_recording_are_those_of_perf() {
    if !is_there("perf") {
        return not_run("perf is not installed");
    }
    let bench = Workbench::new("weights");
    let output = run(
        &bench,
        "perf record -q -F 99 -e page-faults -o perf.data cat /usr/bin/*sh 2>&1 >/dev/null",
    );
    assert!(output.status.success(), "{output:?}");
    let report = run(&bench, "perf report -i perf.data --stdio 2>&1 | grep 'Event count'");
    let text = String::from_utf8_lossy(&report.stdout).into_owned();
    let expected: u64 = text.rsplit(' ').next().unwrap().trim().parse().unwrap();
    bench.rabbitscope("flamegraph perf.data -o out.folded").code(0);
    let weights = bench.read("out.folded");
    let total: u64 =
        weights.lines().map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum();
    assert_eq!(total, expected, "{weights}");
}

/// Returns the totals of each value that `go tool pprof` reads.
fn by_go(path: &Path) -> BTreeMap<String, i64> {
    let output = Command::new("go").args(["tool", "pprof", "-raw"]).arg(path).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut lines = text.lines().skip_while(|line| !line.starts_with("Samples:")).skip(1);
    let names: Vec<&str> = lines.next().unwrap().split_whitespace().collect();
    let mut totals = BTreeMap::new();
    for line in lines.take_while(|line| !line.starts_with("Locations")) {
        let Some((values, _)) = line.split_once(':') else { continue };
        let values: Vec<i64> =
            values.split_whitespace().filter_map(|value| value.parse().ok()).collect();
        if values.len() == names.len() {
            for (name, value) in names.iter().zip(values) {
                *totals.entry(name.trim_end_matches("[dflt]").to_owned()).or_default() += value;
            }
        }
    }
    totals
}

/// Every input format, written as pprof, has the same totals for Go.
#[test]
fn what_is_exported_has_the_same_totals_for_go() {
    if !is_there("go") {
        return not_run("Go is not installed");
    }
    let bench = Workbench::new("go");
    let sample = |period: u32, event: &str, name: &str| {
        format!("x 1 1.0: {period} {event}: \n\t1 {name} (a)\n\n")
    };
    bench.file("a.folded", "x;f 3\nx;g 4\n");
    bench.file("fractions.txt", "x;;f 1.5\nx;g 4");
    bench.file("clock", [sample(10, "cpu-clock", "f"), sample(10, "cpu-clock", "g")].concat());
    bench.file("cycles", [sample(7, "cycles:u", "f"), sample(9, "cycles:u", "g")].concat());
    bench.file("faults", [sample(90, "page-faults", "f"), sample(1, "page-faults", "g")].concat());
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(b"x;f 3\nx;g 4\n").unwrap();
    fs::write(bench.path("packed.folded.gz"), gzip.finish().unwrap()).unwrap();
    let check = |input: &str, expected: &[(&str, i64)]| {
        for step in 0..2 {
            // The second step reads our own file.
            let (from, to) = if step == 0 { (input, "1.pb.gz") } else { ("1.pb.gz", "2.pb.gz") };
            bench.rabbitscope(&format!("flamegraph {from} -o {to}")).code(0);
            let expected = expected.iter().map(|(name, total)| ((*name).to_owned(), *total));
            assert_eq!(
                by_go(&bench.path(to)),
                expected.collect::<BTreeMap<_, _>>(),
                "{input}, step {step}"
            );
        }
    };
    check("a.folded", &[("samples/count", 7)]);
    check("packed.folded.gz", &[("samples/count", 7)]);
    check("fractions.txt", &[("samples/count", 6), ("weights/tenths", 55)]);
    check("clock", &[("samples/count", 2), ("cpu/nanoseconds", 20)]);
    check("cycles", &[("samples/count", 2), ("cycles/cycles", 16)]);
    check("faults", &[("samples/count", 2), ("page-faults/faults", 91)]);
}

#[test]
fn values_can_be_chosen_and_only_the_same_are_compared() {
    let bench = Workbench::new("values");
    let sample = |event: &str| format!("x 1 1.0: 90 {event}: \n\t1 f (a)\n\n");
    bench.file("both", [sample("cycles"), sample("page-faults")].concat());
    bench.file("a.folded", "x;f 3\n");
    let ended = bench.rabbitscope("flamegraph both --value x -o b.folded").code(2);
    ended.says(&["no value `x`", "`cycles`, `page-faults`"]);
    bench.rabbitscope("flamegraph both --value page-faults -o b.svg").code(0);
    let picture = bench.read("b.svg");
    assert!(picture.contains("PAGE FAULTS flame graph") && picture.contains("90 faults"));
    bench.rabbitscope("flamegraph both --value page-faults -o b.pb.gz").code(0);
    bench
        .rabbitscope("diff a.folded b.pb.gz")
        .code(2)
        .says(&["shows cpu, the second page-faults (faults)"]);
    // Ticks and cycles are both CPU time.
    bench.rabbitscope("diff a.folded both").code(0);
    bench.rabbitscope("flamegraph a.folded --value x -o b.folded").code(2).says(&["--value"]);
}
