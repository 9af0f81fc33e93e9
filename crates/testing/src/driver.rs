//! Linked-in drivers, which run C in a node.

use std::{path::Path, process::Command};

/// Header of all drivers.
const HEADER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/drivers");

/// Compiles a driver with additional options of the compiler.
pub fn compile_driver(source: &Path, library: &Path, options: &[&str]) {
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-Wall", "-Werror", "-I", HEADER]).args(options);
    assert!(compiler.arg("-o").args([library, source]).status().unwrap().success());
}
