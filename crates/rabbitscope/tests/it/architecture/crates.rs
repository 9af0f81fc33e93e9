//! The allowed dependencies between crates, and the crates that may not touch the outside world.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The crates of this workspace that each crate may use.
const MAY_USE: [(&str, &[&str]); 39] = [
    ("text", &[]),
    ("files", &["machine"]),
    ("machine", &[]),
    ("profiles", &["text"]),
    ("runs", &["profiles", "text"]),
    ("analysis", &["profiles", "runs", "text"]),
    ("protocol", &[]),
    ("amqp", &["protocol"]),
    ("amqp10", &["protocol"]),
    ("streams", &["protocol"]),
    ("mqtt", &["protocol"]),
    (
        "load",
        &[
            "amqp",
            "amqp10",
            "files",
            "measurements",
            "mqtt",
            "protocol",
            "runs",
            "streams",
            "timing",
            "topology",
            "verify",
        ],
    ),
    (
        "fleet",
        &[
            "amqp",
            "files",
            "load",
            "machine",
            "measurements",
            "protocol",
            "runs",
            "timing",
            "topology",
        ],
    ),
    ("probe", &["files", "machine", "profiles"]),
    ("erlang", &["files", "machine"]),
    ("broker", &["erlang", "files", "machine", "runs"]),
    ("http", &["files"]),
    (
        "serve",
        &[
            "analysis",
            "check",
            "diagnosis",
            "erlang",
            "files",
            "http",
            "inside",
            "machine",
            "probe",
            "profiles",
            "runs",
            "text",
            "web",
        ],
    ),
    ("export", &["files", "http", "machine", "profiles", "text"]),
    ("diagnosis", &["analysis", "runs", "text", "wire"]),
    (
        "check",
        &[
            "amqp",
            "analysis",
            "artifacts",
            "capture",
            "diagnosis",
            "erlang",
            "files",
            "inside",
            "machine",
            "probe",
            "profiles",
            "runs",
            "text",
            "topology",
            "wire",
            "workload",
        ],
    ),
    ("inside", &["broker", "diagnosis", "erlang", "http", "machine", "probe", "profiles", "text"]),
    ("perftest", &["runs", "text"]),
    ("wire", &["amqp", "text"]),
    ("workload", &["runs", "text", "wire"]),
    ("web", &["analysis", "diagnosis", "profiles", "runs", "text", "wire"]),
    ("testing", &["amqp", "broker", "erlang", "profiles", "runs"]),
    ("timing", &["machine", "runs"]),
    ("topology", &["amqp", "amqp10", "files", "mqtt", "protocol", "runs", "streams", "timing"]),
    ("verify", &["runs", "timing"]),
    ("polling", &["runs", "timing"]),
    (
        "measurements",
        &["amqp", "amqp10", "analysis", "mqtt", "runs", "streams", "timing", "verify"],
    ),
    ("terminal", &["files", "text"]),
    (
        "artifacts",
        &[
            "analysis",
            "diagnosis",
            "files",
            "probe",
            "profiles",
            "runs",
            "terminal",
            "text",
            "timing",
            "web",
            "wire",
        ],
    ),
    ("debuginfod", &["files", "probe", "profiles", "terminal"]),
    ("capture", &["files", "machine", "probe", "runs", "terminal", "text", "wire"]),
    (
        "watch",
        &[
            "artifacts",
            "broker",
            "check",
            "diagnosis",
            "erlang",
            "export",
            "files",
            "http",
            "inside",
            "machine",
            "probe",
            "profiles",
            "runs",
            "serve",
            "terminal",
            "text",
            "web",
        ],
    ),
    (
        "runner",
        &[
            "amqp",
            "analysis",
            "artifacts",
            "broker",
            "capture",
            "check",
            "debuginfod",
            "diagnosis",
            "erlang",
            "files",
            "fleet",
            "http",
            "inside",
            "load",
            "machine",
            "measurements",
            "polling",
            "probe",
            "profiles",
            "runs",
            "serve",
            "terminal",
            "text",
            "topology",
            "web",
            "wire",
        ],
    ),
    (
        "experiments",
        &[
            "analysis",
            "artifacts",
            "broker",
            "capture",
            "files",
            "profiles",
            "runner",
            "runs",
            "terminal",
            "text",
            "web",
            "wire",
            "workload",
        ],
    ),
];

/// `make test` runs the tests of libraries and of `tests/` only.
#[test]
fn programs_and_examples_have_no_tests() {
    for entry in fs::read_dir(crates()).unwrap() {
        let place = entry.unwrap().path();
        let examples = place.join("examples");
        let examples = if examples.is_dir() { sources(&examples) } else { Vec::new() };
        for file in examples.into_iter().chain([place.join("src/main.rs")]) {
            let text = fs::read_to_string(&file).unwrap_or_default();
            assert!(!text.contains("#[test]"), "{}", file.display());
        }
    }
}

/// Clock, network, disk, processes.
const OUTSIDE_WORLD: [&str; 8] = [
    "std::fs",
    "std::net",
    "std::env",
    "std::process",
    "std::thread",
    "Instant::now",
    "SystemTime::now",
    "File::open",
];

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn dependencies_point_one_way() {
    for entry in fs::read_dir(crates()).unwrap() {
        let manifest = fs::read_to_string(entry.unwrap().path().join("Cargo.toml")).unwrap();
        let manifest: toml::Table = toml::from_str(&manifest).unwrap();
        assert_only_tests_use_the_workbench(&manifest);
    }
    for (name, allowed) in MAY_USE {
        let manifest = fs::read_to_string(crates().join(name).join("Cargo.toml")).unwrap();
        let manifest: toml::Table = toml::from_str(&manifest).unwrap();
        let used = manifest["dependencies"].as_table().unwrap().keys();
        for used in used.filter_map(|key| key.strip_prefix("rabbitscope-")) {
            assert!(allowed.contains(&used), "{name} uses {used}");
        }
    }
}

/// Only tests may use the workbench: it panics where other code returns errors.
fn assert_only_tests_use_the_workbench(manifest: &toml::Table) {
    for section in ["dependencies", "build-dependencies"] {
        let used = manifest.get(section).and_then(toml::Value::as_table);
        assert!(used.is_none_or(|used| !used.contains_key("rabbitscope-testing")), "{manifest}");
    }
}

#[test]
fn what_is_pure_touches_nothing_outside() {
    for name in [
        "analysis",
        "diagnosis",
        "perftest",
        "profiles",
        "runs",
        "text",
        "verify",
        "wire",
        "workload",
    ] {
        for file in sources(&crates().join(name).join("src")) {
            let text = fs::read_to_string(&file).unwrap();
            // Tests are at the end of a file, or in their own file.
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
            for word in OUTSIDE_WORLD {
                assert!(!code.contains(word), "{} uses {word}", file.display());
            }
        }
    }
}

/// Files of `/proc` that other crates name: descriptors, what a node executes, maps and sees, and the kernel's symbols.
const PROC_ELSEWHERE: [&str; 8] = [
    "/proc/self/fd/",
    "/exe\"",
    "/root\"",
    "/map_files/",
    "/ns/net\"",
    "/proc/kallsyms",
    "metadata(format!(\"/proc/{pid}\"))",
    "io(\"read\", \"/proc",
];

#[test]
fn one_crate_reads_proc() {
    let names = MAY_USE.map(|(name, _)| name).into_iter().chain(["rabbitscope"]);
    for name in names.filter(|name| !matches!(*name, "machine" | "testing")) {
        let sources = sources(&crates().join(name).join("src"));
        for file in
            sources.into_iter().filter(|file| file.extension().is_some_and(|end| end == "rs"))
        {
            let text = fs::read_to_string(&file).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
            for line in code.lines().filter(|line| line.contains("\"/proc")) {
                let is_known = PROC_ELSEWHERE.iter().any(|named| line.contains(named));
                assert!(is_known, "{}: {line}", file.display());
            }
        }
    }
}

fn sources(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] })
        .filter(|path| !path.components().any(|part| part.as_os_str() == "tests"))
        .collect()
}
