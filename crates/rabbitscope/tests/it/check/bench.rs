//! The loads of `make bench-check` are scenarios.

use std::fs;

use rabbitscope_runs::scenario;
use rabbitscope_testing::repository;

#[test]
fn the_loads_of_the_bench_are_scenarios() {
    let folder = fs::read_dir(repository("scripts/check/loads")).unwrap();
    let files: Vec<_> = folder.map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() > 10, "{files:?}");
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let name = file.display().to_string();
        scenario::parse(&text, &name, &["run.duration=1s".to_owned()])
            .unwrap_or_else(|error| panic!("{error}"));
    }
}
