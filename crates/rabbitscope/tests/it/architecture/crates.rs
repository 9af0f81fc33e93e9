//! The allowed dependencies between crates, and the crates that may not touch the outside world.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The crates of this workspace that each crate may use.
const MAY_USE: [(&str, &[&str]); 18] = [
    ("text", &[]),
    ("files", &[]),
    ("machine", &[]),
    ("profiles", &["text"]),
    ("runs", &["profiles", "text"]),
    ("analysis", &["profiles", "runs", "text"]),
    ("amqp", &[]),
    ("load", &["amqp", "analysis", "files", "runs"]),
    ("fleet", &["amqp", "files", "load", "runs"]),
    ("probe", &["files", "machine", "profiles"]),
    ("erlang", &["files", "machine"]),
    ("broker", &["erlang", "files", "machine", "runs"]),
    ("http", &["files"]),
    ("export", &["files", "http", "profiles", "text"]),
    ("inside", &["broker", "erlang", "http", "probe", "profiles", "text"]),
    ("perftest", &["runs", "text"]),
    ("wire", &["amqp", "text"]),
    ("web", &["analysis", "profiles", "runs", "text", "wire"]),
];

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
    for (name, allowed) in MAY_USE {
        let manifest = fs::read_to_string(crates().join(name).join("Cargo.toml")).unwrap();
        let manifest: toml::Table = toml::from_str(&manifest).unwrap();
        let used = manifest["dependencies"].as_table().unwrap().keys();
        for used in used.filter_map(|key| key.strip_prefix("rabbitscope-")) {
            assert!(allowed.contains(&used), "{name} uses {used}");
        }
    }
}

#[test]
fn what_is_pure_touches_nothing_outside() {
    for name in ["analysis", "perftest", "profiles", "runs", "text", "wire"] {
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

fn sources(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] })
        .filter(|path| !path.components().any(|part| part.as_os_str() == "tests"))
        .collect()
}
