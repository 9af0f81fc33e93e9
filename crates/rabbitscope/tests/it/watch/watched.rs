//! A running `watch`, and the machine's resources that it holds.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    path::PathBuf,
    process::Child,
};

use rabbitscope_testing::{Ended, Workbench, eventually, files_below};

/// A workbench in which `watch` runs.
pub(super) struct Watched {
    pub(super) bench: Workbench,
    pub(super) watch: Child,
}

impl Watched {
    pub(super) fn start(bench: Workbench) -> Self {
        Self::start_with(bench, "")
    }

    /// Starts the program through the command `prefix`.
    pub(super) fn start_with(bench: Workbench, prefix: &str) -> Self {
        let watch = bench
            .command_through(prefix, "watch --config watch.toml")
            .stderr(File::create(bench.path("said")).unwrap())
            .spawn()
            .unwrap();
        Self { bench, watch }
    }

    /// Returns the files of windows whose names contain `part`.
    pub(super) fn windows(&self, part: &str) -> Vec<PathBuf> {
        files_below(&self.bench.path("windows"), part)
    }

    pub(super) fn wait_for_windows(&self, part: &str, most: usize) {
        eventually(&format!("{most} windows with {part}"), || self.windows(part).len() >= most);
    }

    #[track_caller]
    pub(super) fn wait_for_words(&self, words: &str) {
        eventually(words, || self.bench.read("said").contains(words));
    }

    pub(super) fn flamegraph(&self, options: &str) -> Ended {
        self.bench.rabbitscope(&format!("flamegraph windows {options}"))
    }

    /// Kills `watch`. None of its objects stays in the kernel, and no unfinished file remains.
    pub(super) fn kill(mut self) {
        let held = Holdings::from_pid(self.watch.id());
        self.watch.kill().unwrap();
        self.watch.wait().unwrap();
        eventually("nothing is left in the kernel", || held.left_in_kernel().is_empty());
        let others = self.windows("").into_iter().filter(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            name != "rabbitscope-windows" && !name.ends_with(".pb.gz")
        });
        assert_eq!(others.collect::<Vec<_>>(), Vec::<PathBuf>::new());
    }
}

/// The resources of a process at one time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Holdings {
    pub(super) resident_kib: u64,
    pub(super) descriptors: usize,
    pub(super) threads: usize,
    /// Ids in the kernel, here and in the next two fields.
    pub(super) programs: BTreeSet<u32>,
    pub(super) maps: BTreeSet<u32>,
    pub(super) links: BTreeSet<u32>,
}

impl Holdings {
    pub(super) fn from_pid(pid: u32) -> Self {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        let infos: Vec<String> = fs::read_dir(format!("/proc/{pid}/fdinfo"))
            .unwrap()
            .filter_map(|entry| fs::read_to_string(entry.ok()?.path()).ok())
            .collect();
        let ids = |key: &str| -> BTreeSet<u32> {
            let values = infos.iter().filter_map(|info| {
                info.lines().find_map(|line| line.strip_prefix(key))?.trim().parse().ok()
            });
            values.collect()
        };
        Self {
            resident_kib: resident.trim_end_matches("kB").trim().parse().unwrap(),
            descriptors: infos.len(),
            threads: fs::read_dir(format!("/proc/{pid}/task")).unwrap().count(),
            programs: ids("prog_id:"),
            maps: ids("map_id:"),
            links: ids("link_id:"),
        }
    }

    /// Returns the counts that depend on the number of nodes: threads, programs, maps and links.
    pub(super) fn counts(&self) -> [usize; 4] {
        let [programs, maps, links] = [&self.programs, &self.maps, &self.links].map(BTreeSet::len);
        [self.threads, programs, maps, links]
    }

    /// Returns the objects that are still in the kernel, with any owner.
    fn left_in_kernel(&self) -> Vec<String> {
        let programs = aya::programs::loaded_programs().flatten().map(|program| program.id());
        let maps = aya::maps::loaded_maps().flatten().map(|map| map.id());
        let links = aya::programs::loaded_links().flatten().map(|link| link.id());
        let left = |kind: &str, ids: &BTreeSet<u32>, loaded: &BTreeSet<u32>| {
            ids.intersection(loaded).map(|id| format!("{kind} {id}")).collect::<Vec<_>>()
        };
        [
            left("program", &self.programs, &programs.collect()),
            left("map", &self.maps, &maps.collect()),
            left("link", &self.links, &links.collect()),
        ]
        .concat()
    }
}
