//! A disk without room: the program writes as much as it can, and reports the rest.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Child, Command},
    thread,
    time::Duration,
};

use crate::workbench::{
    Ended, Workbench, eventually, existing_broker, lines, may_profile, queues_on, scenario,
};

/// A small file system of its own. Dropping it unmounts it.
struct SmallDisk(PathBuf);

impl SmallDisk {
    /// Returns `None`, with a message, if nothing can be mounted.
    #[expect(clippy::print_stderr, reason = "a test that cannot run says so")]
    fn mount(bench: &Workbench, kibibytes: u32) -> Option<Self> {
        let path = bench.path("disk");
        fs::create_dir_all(&path).unwrap();
        let options = format!("size={kibibytes}k,mode=755");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &options, "rabbitscope-test"])
            .arg(&path)
            .output()
            .unwrap();
        if mounted.status.success() {
            return Some(Self(path));
        }
        let reason = String::from_utf8_lossy(&mounted.stderr).into_owned();
        assert!(!may_profile() || reason.contains("permission"), "root may mount: {reason}");
        eprintln!("NOT TESTED, as no file system can be mounted here (root is needed): {reason}");
        None
    }

    /// Fills the disk, except for a number of bytes.
    fn fill(&self, but_bytes: u64) {
        let stat = rustix::fs::statvfs(&self.0).unwrap();
        let room = stat.f_bavail * stat.f_bsize;
        let filler = vec![0; usize::try_from(room.saturating_sub(but_bytes)).unwrap()];
        let file = fs::OpenOptions::new().create(true).append(true).open(self.0.join("filler"));
        let _ = file.unwrap().write_all(&filler);
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
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
    let Some(disk) = SmallDisk::mount(&bench, 4096) else { return };
    bench.file("s.toml", &scenario("full-run", "20s"));
    let running = start(&bench, "--out disk/out");
    disk.fill(0);
    let ended = Ended::from(running.wait_with_output().unwrap()).code(1);
    assert!(ended.stdout.contains("published"), "the summary is there: {ended:#?}");
    assert_eq!(ended.stderr.lines().count(), 1, "{ended:#?}");
    for part in ["disk/out", "series.jsonl", "broker.json, latency-confirm.hlog", "No space left"] {
        assert!(ended.stderr.contains(part), "`{part}` is not in {ended:#?}");
    }
    let run = bench.json("disk/out/run.json");
    assert_eq!(run["verdict"]["kind"], "aborted", "the load was ended: {}", run["verdict"]);
    assert!(run["verdict"]["reason"].as_str().unwrap().contains("series.jsonl"), "{run}");
    assert!(run["load"]["confirmed"].as_u64().unwrap() > 1000);
    let losses = run["losses"].to_string();
    assert!(
        losses.contains("latency-confirm.hlog") && losses.contains("No space left"),
        "{losses}"
    );
    let series = bench.read("disk/out/series.jsonl");
    assert!(series.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()));
    fs::remove_file(disk.0.join("filler")).unwrap();
    bench.rabbitscope("report disk/out -o later.html").code(0);
    assert!(bench.read("later.html").contains("No space left"));
}

#[test]
fn a_disk_that_is_full_before_a_run_is_said_before_it() {
    let bench = Workbench::new("full-before");
    let Some(disk) = SmallDisk::mount(&bench, 512) else { return };
    bench.file("s.toml", &scenario("full-before", "20s"));
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
        let Some(_disk) = SmallDisk::mount(&bench, kibibytes) else { return };
        bench.file("s.toml", &scenario("full-declared", "20s"));
        let run = format!("run s.toml --uri {} --out disk/out", broker.uri());
        bench.rabbitscope(&run).code(1).says(&["no room for results in disk/out"]);
        assert!(!queues_on(broker).contains("full-declared"), "{}", queues_on(broker));
        let entries = fs::read_dir(bench.path("state/rabbitscope/runs"));
        assert_eq!(entries.map_or(0, Iterator::count), 0, "no run has anything to be removed");
    }
}

#[test]
fn a_file_of_seconds_that_cannot_grow_ends_no_run() {
    let bench = Workbench::new("full-csv");
    let Some(disk) = SmallDisk::mount(&bench, 256) else { return };
    bench.file("s.toml", &scenario("full-csv", "4s"));
    let running = start(&bench, "--out out --csv disk/s.csv");
    disk.fill(0);
    // The existing page of the file would take a few more lines.
    let csv = fs::OpenOptions::new().write(true).open(bench.path("disk/s.csv")).unwrap();
    csv.set_len(0).unwrap();
    disk.fill(0);
    let ended = Ended::from(running.wait_with_output().unwrap());
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
    if !may_profile() {
        eprintln!("NOT TESTED: recording takes root or capabilities");
        return;
    }
    let bench = Workbench::new("full-profile");
    let Some(disk) = SmallDisk::mount(&bench, 256) else { return };
    let pid = existing_broker().pid;
    let events = "--event cpu,context-switches --no-names --duration 3s";
    let recording = bench.start(&format!("profile --pid {pid} {events} -o disk/x.html"));
    thread::sleep(Duration::from_secs(1));
    disk.fill(0);
    let ended = Ended::from(recording.wait_with_output().unwrap()).code(1);
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
    if !may_profile() {
        eprintln!("NOT TESTED: recording takes root or capabilities");
        return;
    }
    let bench = Workbench::new("full-both");
    let Some(disk) = SmallDisk::mount(&bench, 256) else { return };
    let pid = existing_broker().pid;
    let mut command =
        bench.command(&format!("profile --pid {pid} --no-names --duration 3s -o disk/x.html"));
    let recording = command.env("TMPDIR", bench.path("disk")).spawn().unwrap();
    thread::sleep(Duration::from_secs(1));
    disk.fill(0);
    let ended = Ended::from(recording.wait_with_output().unwrap()).code(1);
    assert!(ended.stderr.contains("disk/x.html: No space left"), "{ended:#?}");
    assert!(ended.stderr.contains("is lost"), "{ended:#?}");
    assert_eq!(files_in(&disk.0), [disk.0.join("filler")], "no parts of files are left");
}
