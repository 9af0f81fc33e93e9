//! A disk without room: the program writes as much as it can, and reports the rest.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Child,
    thread,
    time::Duration,
};

use rabbitscope_testing::{
    Ends, SmallDisk, Workbench, count, eventually, existing_broker, lines, may_profile, not_run,
    queues_on, scenario::Scenario,
};

/// Mounts a disk. Returns `None`, with a message, if nothing can be mounted.
fn mount(bench: &Workbench, kibibytes: u64) -> Option<SmallDisk> {
    let mounted = SmallDisk::mount(bench.path("disk"), kibibytes);
    if let Err(reason) = &mounted {
        assert!(!may_profile() || reason.contains("permission"), "root may mount: {reason}");
        not_run(reason);
    }
    mounted.ok()
}

/// Starts a run against the shared broker and returns once it has recorded a second.
fn start(bench: &Workbench, more: &str) -> Child {
    let uri = existing_broker().uri();
    let running = bench.start(&format!("run s.toml --uri {uri} {more}"));
    let series = bench.path("disk/out/series.jsonl");
    let other = bench.path("out/series.jsonl");
    eventually("a second is recorded", || lines(&series).max(lines(&other)) >= 1);
    running
}

#[test]
fn a_disk_that_fills_does_not_lose_the_run() {
    let bench = Workbench::new("full-run");
    let Some(disk) = mount(&bench, 4096) else { return };
    bench.file("s.toml", Scenario::steady("full-run", "20s"));
    let running = start(&bench, "--out disk/out");
    disk.fill(0);
    let ended = running.ended().code(1);
    assert!(ended.stdout.contains("published"), "the summary is there: {ended:#?}");
    assert_eq!(ended.stderr.lines().count(), 1, "{ended:#?}");
    for part in ["disk/out", "series.jsonl", "broker.json, latency-confirm.hlog", "No space left"] {
        assert!(ended.stderr.contains(part), "`{part}` is not in {ended:#?}");
    }
    let run = bench.json("disk/out/run.json");
    assert_eq!(run["verdict"]["kind"], "aborted", "the load was ended: {}", run["verdict"]);
    assert!(run["verdict"]["reason"].as_str().unwrap().contains("series.jsonl"), "{run}");
    assert!(count(&run, "confirmed") > 1000);
    let losses = run["losses"].to_string();
    assert!(
        losses.contains("latency-confirm.hlog") && losses.contains("No space left"),
        "{losses}"
    );
    bench.rows("disk/out/series.jsonl");
    fs::remove_file(disk.directory.join("filler")).unwrap();
    bench.rabbitscope("report disk/out -o later.html").code(0);
    assert!(bench.read("later.html").contains("No space left"));
}

#[test]
fn a_disk_that_is_full_before_a_run_is_said_before_it() {
    let bench = Workbench::new("full-before");
    let Some(disk) = mount(&bench, 512) else { return };
    bench.file("s.toml", Scenario::steady("full-before", "20s"));
    disk.fill(64 << 10);
    let uri = existing_broker().uri();
    let ended = bench.rabbitscope(&format!("run s.toml --uri {uri} --out disk/out")).code(1);
    ended.says(&["no room for results in disk/out"]);
}

#[test]
fn nothing_is_declared_where_there_is_no_room_for_results() {
    let bench = Workbench::new("full-declared");
    let broker = existing_broker();
    for kibibytes in [200, 1000] {
        let Some(_disk) = mount(&bench, kibibytes) else { return };
        bench.file("s.toml", Scenario::steady("full-declared", "20s"));
        let run = format!("run s.toml --uri {} --out disk/out", broker.uri());
        bench.rabbitscope(&run).code(1).says(&["no room for results in disk/out"]);
        assert!(!queues_on(broker).contains("full-declared"), "{}", queues_on(broker));
        assert!(bench.journal_entries().is_empty(), "no run has anything to be removed");
    }
}

#[test]
fn a_file_of_seconds_that_cannot_grow_ends_no_run() {
    let bench = Workbench::new("full-csv");
    let Some(disk) = mount(&bench, 256) else { return };
    bench.file("s.toml", Scenario::steady("full-csv", "4s"));
    let running = start(&bench, "--out out --csv disk/s.csv");
    disk.fill(0);
    // The existing page of the file would take a few more lines.
    let csv = fs::OpenOptions::new().write(true).open(bench.path("disk/s.csv")).unwrap();
    csv.set_len(0).unwrap();
    disk.fill(0);
    let ended = running.ended();
    let run = bench.json("out/run.json");
    assert_eq!(run["verdict"]["kind"], "completed");
    assert!(lines(&bench.path("out/series.jsonl")) >= 4);
    assert!(bench.path("out/report.html").exists());
    let ended = ended.code(1);
    assert!(
        ended.stderr.contains("disk/s.csv") && ended.stderr.contains("No space left"),
        "{ended:#?}"
    );
}

fn files_in(directory: &Path) -> Vec<PathBuf> {
    fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn a_recording_that_has_ended_is_kept_elsewhere() {
    let Some(bench) = Workbench::for_root("full-profile") else { return };
    let Some(disk) = mount(&bench, 256) else { return };
    let pid = existing_broker().pid;
    let events = "--event cpu,context-switches --no-names --duration 3s";
    let recording = bench.start(&format!("profile --pid {pid} {events} -o disk/x.html"));
    thread::sleep(Duration::from_secs(1));
    disk.fill(0);
    let ended = recording.ended().code(1);
    let kept: Vec<PathBuf> = files_in(&bench.path("tmp"))
        .into_iter()
        .filter(|path| path.to_string_lossy().ends_with(".pb.gz"))
        .collect();
    assert_eq!(kept.len(), 2, "one for each event: {ended:#?}");
    for path in &kept {
        assert!(ended.stderr.contains(path.to_str().unwrap()), "{ended:#?}");
        bench.rabbitscope(&format!("flamegraph {} -o again.folded", path.display())).code(0);
    }
    for part in ["disk/x-cpu.html", "disk/x-context-switches.html", "No space left"] {
        assert!(ended.stderr.contains(part), "`{part}` is not in {ended:#?}");
    }
    assert_eq!(ended.stderr.lines().count(), 1, "{ended:#?}");
}

#[test]
fn a_recording_that_is_nowhere_is_said_to_be_lost() {
    let Some(bench) = Workbench::for_root("full-both") else { return };
    let Some(disk) = mount(&bench, 256) else { return };
    let pid = existing_broker().pid;
    let mut command =
        bench.command(&format!("profile --pid {pid} --no-names --duration 3s -o disk/x.html"));
    let recording = command.env("TMPDIR", bench.path("disk")).spawn().unwrap();
    thread::sleep(Duration::from_secs(1));
    disk.fill(0);
    let ended = recording.ended().code(1);
    assert!(ended.stderr.contains("disk/x.html: No space left"), "{ended:#?}");
    assert!(ended.stderr.contains("is lost"), "{ended:#?}");
    assert_eq!(
        files_in(&disk.directory),
        [disk.directory.join("filler")],
        "no parts of files are left"
    );
}
