//! Files that others named or planted: which are opened or overwritten, and the limits of their contents.

use std::{
    fs,
    io::Write,
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use flate2::{Compression, write::GzEncoder};
use rabbitscope_testing::{
    Ended, Ends, Stops, Workbench, existing_broker, lines, program,
    scenario::{Poller, Scenario},
};

fn fifo(bench: &Workbench, name: &str) {
    let made = Command::new("mkfifo").arg(bench.path(name)).status().unwrap();
    assert!(made.success());
}

/// Asserts an immediate refusal with the file's name, for a pipe without a writer and an endless device.
#[track_caller]
fn check_refused(bench: &Workbench, arguments: &str, codes: &[i32]) {
    for file in ["fifo", "/dev/zero"] {
        let arguments = arguments.replace('@', file);
        let began = Instant::now();
        let ended = bench.rabbitscope(&arguments);
        assert!(
            began.elapsed() < Duration::from_secs(20),
            "{arguments} took {:?}",
            began.elapsed()
        );
        let code = ended.code.unwrap_or(-1);
        assert!(codes.contains(&code), "{arguments}: {ended:#?}");
        let reason = if file == "fifo" { "a pipe" } else { "a device" };
        ended.says(&[file, reason]);
    }
}

#[test]
fn files_that_are_no_files_are_refused_at_once() {
    let bench = Workbench::new("no-files");
    fifo(&bench, "fifo");
    bench.file("s.toml", Scenario::steady("q", "1s"));
    bench.file("ca.pem", "");
    bench.file("a.folded", "a 1\n");
    // Profiles and runs.
    check_refused(&bench, "flamegraph @ -o x.svg", &[2]);
    check_refused(&bench, "diff a.folded @", &[2]);
    check_refused(&bench, "packets --pcap @", &[2]);
    // Scenarios, and the files that they name.
    check_refused(&bench, "run @", &[2]);
    check_refused(&bench, "find-rate @ --slo confirm.p99<1s", &[2]);
    let set = |keys: &str| {
        let keys: Vec<&str> = keys.split(' ').collect();
        format!("run s.toml --set {}", keys.join(" --set "))
    };
    let poller = Poller::new("https://127.0.0.1:1/").name("p").interval("1s").user("u");
    bench.file("p.toml", Scenario::steady("q", "1s").pollers(poller));
    let set_poller = |keys: &str| set(keys).replace("s.toml", "p.toml");
    for keys in [
        "publishers.0.body-files=[\"@\"]".to_owned(),
        "queues.1.name=n queues.1.names-file=@".to_owned(),
        "broker.uri=amqps://127.0.0.1:1 broker.tls.ca=@".to_owned(),
        "broker.uri=amqps://127.0.0.1:1 broker.tls.cert=@ broker.tls.key=@".to_owned(),
        "broker.uri=amqp://127.0.0.1:1 broker.auth=token broker.token-file=@".to_owned(),
    ] {
        check_refused(&bench, &set(&keys), &[2]);
    }
    check_refused(&bench, &set_poller("pollers.0.password-file=@"), &[2]);
    check_refused(&bench, &set_poller("pollers.0.password-env=HOME pollers.0.ca=@"), &[2]);
    // Files of commands that look into a node.
    check_refused(&bench, "broker start --config @", &[2]);
    check_refused(&bench, "broker start --advanced-config @", &[2]);
    check_refused(&bench, "top --node x --dist-port 1 --cookie-file @", &[2]);
    check_refused(&bench, "top --node x --dist-port 1 --tls-ca @", &[2]);
    check_refused(&bench, "queues --listen 127.0.0.1:0 --auth-file @", &[2]);
}

#[test]
fn a_run_directory_is_not_read_without_end_either() {
    for name in ["run.json", "series.jsonl"] {
        let bench = Workbench::new("no-run");
        fs::create_dir(bench.path("run")).unwrap();
        symlink("/dev/zero", bench.path("run").join(name)).unwrap();
        bench.file(if name == "run.json" { "run/series.jsonl" } else { "run/run.json" }, "{}");
        bench.rabbitscope("report run -o x.html").code(1);
        assert!(!bench.path("x.html").exists());
    }
}

#[test]
fn planted_links_are_not_written_through() {
    let bench = Workbench::new("planted");
    let victim = bench.file("victim", "of somebody else");
    bench.file("a.folded", "a 1\n");
    bench.file("s.toml", Scenario::steady("q", "1s"));
    for name in ["link.svg", "link.html", "link.csv"] {
        symlink(&victim, bench.path(name)).unwrap();
    }
    bench
        .rabbitscope("flamegraph a.folded -o link.svg")
        .code(1)
        .says(&["link.svg", "symbolic link"]);
    bench.rabbitscope("diff a.folded a.folded -o link.html").code(1).says(&["link.html"]);
    let uri = existing_broker().uri();
    let csv = |name: &str| format!("run s.toml --uri {uri} --out out --csv {name}");
    bench.rabbitscope(&csv("link.csv")).code(1).says(&["link.csv", "symbolic link"]);
    assert!(!bench.path("out").exists(), "nothing was begun");
    bench.rabbitscope(&csv("/dev/null")).code(1).says(&["/dev/null", "regular file"]);
    assert_eq!(bench.read("victim"), "of somebody else");
    assert!(!Path::new("/dev/null").is_file(), "the device is one still");
}

#[test]
fn a_directory_that_others_may_change_gets_no_results() {
    let bench = Workbench::new("shared");
    bench.file("s.toml", Scenario::steady("q", "1s"));
    let open = bench.path("open");
    fs::create_dir(&open).unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
    let ended = bench.rabbitscope("run s.toml --out open").code(2);
    ended.says(&["open", "other users can write", "choose a place"]);
    assert_eq!(fs::read_dir(&open).unwrap().count(), 0);
    // An existing directory stays if nothing was measured.
    fs::set_permissions(&open, fs::Permissions::from_mode(0o755)).unwrap();
    bench.rabbitscope("run s.toml --uri amqp://127.0.0.1:1 --out open").code(5);
    assert_eq!(fs::read_dir(&open).unwrap().count(), 0);
}

#[test]
fn a_run_that_was_killed_has_a_report_of_what_it_had() {
    let bench = Workbench::new("killed");
    let running = bench.start_run(existing_broker(), Scenario::steady("killed", "60s"), 2);
    running.killed();
    assert!(!bench.path("out/run.json").exists());
    let series = bench.path("out/series.jsonl");
    let whole = lines(&series);
    let mut file = fs::OpenOptions::new().append(true).open(&series).unwrap();
    file.write_all(b"{\"second\": 99, \"interval-na").unwrap();

    bench.rabbitscope("report out -o killed.html").code(0);
    let page = bench.read("killed.html");
    let data = page.split("id=\"data\">").nth(1).unwrap().split("</script>").next().unwrap();
    let data: serde_json::Value = serde_json::from_str(data).unwrap();
    let run = &data["run"];
    assert_eq!(run["verdict"]["kind"], "aborted");
    let reason = run["verdict"]["reason"].as_str().unwrap();
    assert!(reason.contains("did not finish") && reason.contains("killed"), "{reason}");
    assert_eq!(run["name"], "test");
    assert_eq!(run["scenario"]["queues"][0]["name"], "killed");
    assert!(run["load"]["published"].as_u64().unwrap() > 1000, "{run}");
    let line = |title: &str, name: &str| {
        let charts = data["charts"]["charts"].as_array().unwrap().iter();
        let chart =
            charts.into_iter().find(|chart| chart["title"].as_str().unwrap().starts_with(title));
        let marks = chart.unwrap()["marks"].as_array().unwrap().clone();
        marks.into_iter().find(|mark| mark["name"] == name).unwrap()["y"].take()
    };
    assert_eq!(line("Throughput", "written").as_array().unwrap().len(), whole);
    assert!(line("Confirm latency", "p99")[1].as_f64().unwrap() > 0.0);
    assert!(!data["figures"].as_array().unwrap().is_empty());
    let said = run["losses"].to_string();
    assert!(said.contains("last line of series.jsonl") && said.contains("run records"), "{said}");

    bench.rabbitscope("flamegraph out -o x.svg").code(2).says(&["killed", "rabbitscope report"]);
    bench.rabbitscope("diff out out").code(2).says(&["killed", "rabbitscope report"]);
    fs::remove_file(&series).unwrap();
    bench.rabbitscope("report out -o x.html").code(2).says(&["run.json", "series.jsonl"]);
    // The next run removes the queue that this one left.
    bench
        .rabbitscope(&format!(
            "run s.toml --uri {} --out next --set run.duration=1s",
            existing_broker().uri()
        ))
        .code(0);
}

/// 65 kB that decompress to 65 MB: the smallest possible samples, each of which would take fifty times as much
/// memory.
fn many_samples(sample: &[u8]) -> Vec<u8> {
    let mut message = Vec::new();
    // A sample type, a location and an empty string, so that the samples are valid.
    message.extend([0x0a, 0, 0x22, 2, 0x08, 1, 0x32, 0]);
    while message.len() < 65_000_000 {
        message.extend([0x12, u8::try_from(sample.len()).unwrap()]);
        message.extend(sample);
    }
    let mut file = GzEncoder::new(Vec::new(), Compression::best());
    file.write_all(&message).unwrap();
    file.finish().unwrap()
}

/// Returns exit code, output, peak of memory in MB, and time.
fn measured(bench: &Workbench, arguments: &str) -> (Ended, u64, Duration) {
    let program = program().display().to_string();
    let script = format!(
        "{program} {arguments} & child=$!; peak=0; \
         while [ -r /proc/$child/status ]; do \
           now=$(sed -n 's/^VmHWM:[^0-9]*\\([0-9]*\\) kB/\\1/p' /proc/$child/status 2>/dev/null); \
           [ -n \"$now\" ] && peak=$now; sleep 0.01; \
           grep -q '^State:.Z' /proc/$child/status 2>/dev/null && break; \
         done; wait $child; code=$?; echo $peak > peak; exit $code"
    );
    let began = Instant::now();
    let ended = bench.command_line("/usr/bin/env bash -c").arg(script).ended();
    let elapsed = began.elapsed();
    let peak: u64 = bench.read("peak").trim().parse().unwrap();
    (ended, peak / 1024, elapsed)
}

#[test]
fn a_small_file_takes_no_large_memory() {
    let bench = Workbench::new("hostile");
    let check = |name: &str, arguments: &str, code: i32, says: &[&str]| {
        let (ended, peak, elapsed) = measured(&bench, arguments);
        println!("{name}: at most {peak} MB, {elapsed:?}");
        assert!((1..600).contains(&peak), "{name}: {peak} MB");
        assert!(elapsed < Duration::from_secs(60), "{name}: {elapsed:?}");
        ended.code(code).says(says);
    };
    // Empty samples; samples with a value and a stack of one frame; the same with several.
    for (name, sample) in [
        ("empty", &[][..]),
        ("small", &[0x0a, 1, 1, 0x12, 1, 1]),
        ("deep", &[0x0a, 9, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0x12, 1, 1]),
    ] {
        let file = bench.path("hostile.pb.gz");
        fs::write(&file, many_samples(sample)).unwrap();
        let bytes = file.metadata().unwrap().len();
        assert!(bytes < 200_000, "{name}: {bytes} bytes");
        let says = ["hostile.pb.gz", "more than 256MiB of memory", "--max-size"];
        check(name, "flamegraph hostile.pb.gz -o x.svg", 1, &says);
    }
    let zeroes = vec![0; 300_000_000];
    let mut gzip =
        GzEncoder::new(fs::File::create(bench.path("z.pb.gz")).unwrap(), Compression::best());
    gzip.write_all(&zeroes).unwrap();
    gzip.finish().unwrap();
    check(
        "zeroes",
        "flamegraph z.pb.gz -o x.svg",
        1,
        &["256MiB after decompression", "--max-size"],
    );
    fs::write(bench.path("line.folded"), &zeroes).unwrap();
    check("a line without end", "flamegraph line.folded -o x.svg", 1, &["line 1", "longer"]);
    let stacks: Vec<String> = (0..3_000_000).map(|number| format!("{number:x} 1\n")).collect();
    bench.file("many.folded", stacks.concat());
    check("many stacks", "flamegraph many.folded -o x.svg", 1, &["more than 256MiB of memory"]);
}
