//! The loads of `make bench-check` are scenarios.

use std::{
    fs,
    path::{Path, PathBuf},
};

use rabbitscope_runs::scenario;
use rabbitscope_testing::repository;

#[test]
fn the_loads_of_the_bench_are_scenarios() {
    let entries = |folder: &Path| -> Vec<PathBuf> {
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
    };
    let (folders, mut files): (Vec<_>, Vec<_>) =
        entries(&repository("scripts/check/loads")).into_iter().partition(|path| path.is_dir());
    files.extend(folders.iter().flat_map(|folder| entries(folder)));
    assert!(files.len() > 10, "{files:?}");
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let name = file.display().to_string();
        scenario::parse(&text, &name, &["run.duration=1s".to_owned()])
            .unwrap_or_else(|error| panic!("{error}"));
    }
}
