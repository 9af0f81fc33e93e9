//! `watch`: nodes that come and go, windows in a directory, and what a kill leaves.

use std::{
    fs::{self, File},
    path::PathBuf,
    process::Child,
};

use rabbitscope_broker::Broker;
use rustix::process::Signal;

use crate::workbench::{
    Ended, Workbench, eventually, may_profile_or_says_so, own_broker, scenario, signal,
};

/// A workbench in which `watch` runs.
struct Watched {
    bench: Workbench,
    watch: Child,
}

impl Watched {
    fn start(bench: Workbench) -> Self {
        let watch = bench
            .command("watch --config watch.toml")
            .stderr(File::create(bench.path("said")).unwrap())
            .spawn()
            .unwrap();
        Self { bench, watch }
    }

    /// Files of windows whose names have this in them.
    fn windows(&self, part: &str) -> Vec<PathBuf> {
        files_below(&self.bench.path("windows"), part)
    }

    fn wait_for_windows(&self, part: &str, most: usize) {
        eventually(&format!("{most} windows with {part}"), || self.windows(part).len() >= most);
    }

    #[track_caller]
    fn wait_for_words(&self, words: &str) {
        eventually(words, || self.bench.read("said").contains(words));
    }

    fn flamegraph(&self, options: &str) -> Ended {
        self.bench.rabbitscope(&format!("flamegraph windows {options}"))
    }
}

fn files_below(directory: &PathBuf, part: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let found = entries.flat_map(|entry| {
        let path = entry.path();
        if path.is_dir() { files_below(&path, part) } else { vec![path] }
    });
    found.filter(|path| path.display().to_string().contains(part)).collect()
}

fn configuration(except: &str, brokers: [&Broker; 2]) -> String {
    let [first, second] = brokers.map(|broker| &broker.name);
    format!(
        "[record]\nfrequency = 99\nwindow = '1s'\n\
         [nodes]\nonly = ['{first}*', '{second}*']\nexcept = [{except}]\n\
         [directory]\npath = 'windows'\n"
    )
}

#[test]
fn nodes_come_and_go_and_nothing_is_left() {
    if !may_profile_or_says_so("nodes_come_and_go_and_nothing_is_left") {
        return;
    }
    let bench = Workbench::new("all-day");
    let (first, mut second) = (own_broker(), own_broker());
    let brokers = [&first, &second];
    let (good, other) =
        (configuration("", brokers), configuration(&format!("'{}*'", first.name), brokers));
    bench.file("watch.toml", &good);
    bench.file("load.toml", &scenario("q", "3s"));
    let mut watched = Watched::start(bench);
    watched.wait_for_windows(&first.name, 2);
    watched.wait_for_windows(&second.name, 2);
    let bench = &watched.bench;
    bench.rabbitscope(&format!("run load.toml --uri {} --out out", first.uri())).code(0);

    bench.rabbitscope("watch -o windows").code(2).says(&["another watch writes to windows"]);

    bench.file("watch.toml", "[record]\nfrequency = 0");
    signal(&watched.watch, Signal::HUP);
    watched.wait_for_words("watch.toml:2: `record.frequency`: must be from 1 to 999");
    watched.wait_for_words("the configuration of before stays in force");

    let old = format!("~{}.pb.gz", second.pid);
    second.kill();
    watched.wait_for_words(&format!("(pid {}, RabbitMQ", second.pid));
    watched.wait_for_words("has ended");
    second.start_again().unwrap();
    let new = format!("~{}.pb.gz", second.nodes()[0].pid);
    assert_ne!(old, new);
    watched.wait_for_windows(&new, 1);

    bench.file("watch.toml", &other);
    signal(&watched.watch, Signal::HUP);
    watched.wait_for_words("the configuration was read again");
    let before = watched.windows(&first.name).len();
    watched.wait_for_windows(&new, 4);
    assert_eq!(watched.windows(&first.name).len(), before, "it is left out now");

    signal(&watched.watch, Signal::TERM);
    assert!(watched.watch.wait().unwrap().success());
    check_pictures(&watched, &first);
    kill(watched, &new);
}

/// Of what was written: a span, one node, a damaged file.
fn check_pictures(watched: &Watched, first: &Broker) {
    let node = format!("--from 10m --node {}", first.name);
    watched.flamegraph(&format!("{node} -o first.folded")).code(0);
    let stacks = watched.bench.read("first.folded");
    assert!(stacks.contains("rabbit_reader:") || stacks.contains("rabbit_channel:"), "{stacks}");
    let from = format!("windows?from=10m&node={}", first.name);
    watched.bench.rabbitscope(&format!("diff {from} {from} -o diff.html")).code(0);
    watched.flamegraph("--to 2h -o none.svg").code(2).says(&["has no such window"]);
    let damaged = watched.windows(&first.name).remove(0);
    fs::write(&damaged, &fs::read(&damaged).unwrap()[..40]).unwrap();
    let said = watched.flamegraph("-o all.svg").code(0).stderr;
    assert!(said.contains("is left out") && said.contains("1 windows are left out"), "{said}");
    watched.bench.rabbitscope("heatmap windows -o day.html").code(0);
    let page = watched.bench.read("day.html");
    assert!(page.contains("cores</title>") && page.contains(&first.name), "{page}");
}

/// A second watch goes on in the directory, and is killed: no program stays in the kernel, and no unfinished file.
fn kill(watched: Watched, window: &str) {
    let known = watched.windows(window).len();
    let mut watched = Watched::start(watched.bench);
    watched.wait_for_windows(window, known + 1);
    let programs = programs_of(watched.watch.id());
    assert!(programs.len() >= 2, "the clock's and a node's: {programs:?}");
    watched.watch.kill().unwrap();
    watched.watch.wait().unwrap();
    let is_left =
        |id: &u32| aya::programs::loaded_programs().flatten().any(|program| program.id() == *id);
    eventually("no program is left in the kernel", || !programs.iter().any(is_left));
    let others = watched.windows("").into_iter().filter(|path| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name != "rabbitscope-windows" && !name.ends_with(".pb.gz")
    });
    assert_eq!(others.collect::<Vec<_>>(), Vec::<PathBuf>::new());
}

/// Ids of the programs that a process holds descriptors of.
fn programs_of(pid: u32) -> Vec<u32> {
    let entries = fs::read_dir(format!("/proc/{pid}/fdinfo")).unwrap().flatten();
    let infos = entries.filter_map(|entry| fs::read_to_string(entry.path()).ok());
    let id_of = |info: String| {
        let id = info.lines().find_map(|line| line.strip_prefix("prog_id:"))?;
        id.trim().parse().ok()
    };
    infos.filter_map(id_of).collect()
}
