//! Files of earlier versions can be read. The version in its name wrote each file in `tests/data`; the files are
//! never regenerated.

use std::fs;

use rabbitscope_testing::Workbench;

/// Written by 0.1.0: keys of `capture` and `quality` have `_` between words.
const FORMAT_1: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/run-format-1");

#[test]
fn a_run_of_format_1_has_a_report_with_its_figures() {
    let bench = Workbench::new("kept-run");
    bench.rabbitscope(&format!("report {FORMAT_1} -o kept.html")).code(0);
    let page = fs::read_to_string(bench.path("kept.html")).unwrap();
    for figure in [
        r#""recorder":"eBPF","clock":"cpu-clock","node-pid":31999,"otp-release":"25""#,
        r#""complete":4,"truncated":0,"broken":0,"no-process":0"#,
        "Erlang/OTP 25.2.3",
    ] {
        assert!(page.contains(figure), "{figure} is not in the page");
    }
}

#[test]
fn a_profile_of_format_1_has_its_stacks_and_its_quality() {
    let bench = Workbench::new("kept-profile");
    let profile = format!("{FORMAT_1}/profile-cpu.pb.gz");
    bench.rabbitscope(&format!("flamegraph {profile} -o kept.folded")).code(0);
    let folded = fs::read_to_string(bench.path("kept.folded")).unwrap();
    let weight = |line: &str| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap();
    assert_eq!(folded.lines().map(weight).sum::<u64>(), 4, "{folded}");
    assert!(folded.contains("rabbit_exchange:route/2"), "{folded}");
}

#[test]
fn a_run_of_a_later_format_is_refused() {
    let bench = Workbench::new("kept-later");
    let later = bench.path("later");
    fs::create_dir(&later).unwrap();
    fs::write(later.join("run.json"), r#"{"format-version": 99}"#).unwrap();
    bench
        .rabbitscope("report later -o later.html")
        .code(1)
        .says(&["has format version 99; this rabbitscope reads 1 to 2"]);
}
