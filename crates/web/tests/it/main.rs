//! Writes pages from real types and runs the page's own tests on them: unit tests in Node.js, and the whole page in a
//! headless Chromium.

mod documents;
mod history;
mod pages;

use std::{collections::BTreeMap, fs, path::Path, process::Command};

use rabbitscope_analysis::ProfileDiff;
use rabbitscope_profiles::{Profile, StackEntry};
use rabbitscope_web::{
    CostOfMessages, DiffReport, LivePage, NamedProfile, OtherPage, ProfileSpan, Report, RunPackets,
    live_profile, write_curve, write_diff, write_experiment, write_heat_map, write_live_page,
    write_packets, write_report, write_svg,
};

/// The copy of `ui/` that the build script has built, with its packages.
const UI: &str = concat!(env!("OUT_DIR"), "/ui");

/// Time after which a test of the page hangs. `node --test` waits for all that a failed test has left open.
const LONGEST: &str = "1200";

fn npm(script: &str, pages: &Path) {
    let output = Command::new("timeout")
        .args([LONGEST, "npm", "run", "--silent", script])
        .current_dir(UI)
        .env("RABBITSCOPE_PAGES", pages)
        .output()
        .expect("npm was there when the page was built");
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "npm run {script}:\n{}", String::from_utf8_lossy(&said));
}

#[test]
fn parts_of_the_page_work() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("parts");
    fs::create_dir_all(&folder).unwrap();
    let profile = pages::profile();
    let report = Report { profile: Some(&profile), ..Report::default() };
    write_report(fs::File::create(folder.join("profile.html")).unwrap(), &report).unwrap();
    fs::write(folder.join("stacks.txt"), weights_by_stack(&profile)).unwrap();
    npm("test", &folder);
}

/// Returns a line for each stack: names, root first, between tabs, then the weight.
fn weights_by_stack(profile: &Profile) -> String {
    let mut weights: BTreeMap<String, u64> = BTreeMap::new();
    for sample in &profile.samples {
        let activations = |entry: &StackEntry| {
            let name = format!("{}\t", profile.frames.get(entry.frame).name);
            name.repeat(entry.repeat as usize)
        };
        *weights.entry(sample.stack.iter().map(activations).collect()).or_default() +=
            sample.weight;
    }
    let lines: Vec<String> =
        weights.iter().map(|(stack, weight)| format!("{stack}{weight}")).collect();
    lines.join("\n")
}

#[test]
fn pages_work_in_a_browser() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pages");
    fs::create_dir_all(&folder).unwrap();
    let create = |name: &str| fs::File::create(folder.join(name)).unwrap();
    let (run, series, profile) = (pages::run(), pages::series(), pages::profile());
    let brief = pages::brief();
    let report = Report {
        run: Some(&run),
        brief: Some(&brief),
        series: &series,
        profile: Some(&profile),
        ..Report::default()
    };
    write_report(create("report.html"), &report).unwrap();
    let packets = pages::packets();
    let page = Some("packets.html");
    let report = Report { packets: Some(RunPackets { report: &packets, page }), ..report };
    write_report(create("with-packets.html"), &report).unwrap();
    write_packets(create("packets.html"), &packets).unwrap();
    let others = [OtherPage { event: "off-cpu", file: "off-cpu.html" }];
    let bare = Report { profile: Some(&profile), others: &others, ..Report::default() };
    write_report(create("profile.html"), &bare).unwrap();
    let windows = pages::windows();
    let several = Report { profile: Some(&windows), ..Report::default() };
    write_report(create("windows.html"), &several).unwrap();
    write_svg(create("profile.svg"), &profile).unwrap();
    let off_cpu = pages::off_cpu_profile();
    let others = [OtherPage { event: "cpu", file: "profile.html" }];
    let waits = Report { profile: Some(&off_cpu), others: &others, ..Report::default() };
    write_report(create("off-cpu.html"), &waits).unwrap();
    let after = pages::faster_profile();
    let diff = ProfileDiff::between(&profile, &after).unwrap();
    let report = DiffReport {
        diff: &diff,
        before: NamedProfile { name: "before.pb.gz", profile: &profile },
        after: NamedProfile { name: "after.pb.gz", profile: &after },
        // A sample is a microsecond of each message.
        cost: Some(CostOfMessages {
            what: "published",
            unit: "nanoseconds",
            rates: [2000.0, 1000.0],
            per_weight: [1000.0; 2],
        }),
    };
    write_diff(create("diff.html"), report).unwrap();
    let command = |node: &str| Some(documents::command(node));
    write_heat_map(create("heatmap.html"), &documents::windows(), command).unwrap();
    write_experiment(create("experiment.html"), &documents::experiment()).unwrap();
    write_experiment(create("sweep.html"), &documents::sweep()).unwrap();
    write_curve(create("find-rate.html"), &documents::capacity()).unwrap();
    history::write_list(create("history.html"));
    history::write_two(create("pair.html"));
    let live = LivePage { title: "<live>".to_owned(), profile: true };
    write_live_page(create("live.html"), &live).unwrap();
    for (number, profile) in [(1, &profile), (2, &after)] {
        let span = ProfileSpan { number, from: 0, to: 1 };
        let file = folder.join(format!("profile-{number}.json"));
        fs::write(file, live_profile(span, profile)).unwrap();
    }
    npm("test:browser", &folder);
}

#[test]
fn a_report_refers_to_nothing_outside() {
    let mut out = Vec::new();
    write_report(&mut out, &Report { profile: Some(&pages::profile()), ..Report::default() })
        .unwrap();
    let page = String::from_utf8(out).unwrap();
    assert!(page.contains("default-src 'none'"));
    for forbidden in ["src=\"", "@import", "url(", "fetch(", "XMLHttpRequest"] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
    assert_eq!(page.matches("</script>").count(), 3);
}
