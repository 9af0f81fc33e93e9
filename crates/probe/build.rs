//! Compiles the eBPF sampler with clang. Its headers are its own, so nothing but clang is needed.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "cargo reads directives from stdout")]

use std::{env, path::PathBuf, process::Command};

const SOURCES: [&str; 10] = [
    "bpf/sampler.bpf.c",
    "bpf/erlang.h",
    "bpf/native.h",
    "bpf/ticks.h",
    "bpf/waits.h",
    "bpf/memory.h",
    "bpf/maps.h",
    "bpf/sampler.h",
    "bpf/arch.h",
    "bpf/kernel.h",
];

fn main() {
    for source in SOURCES {
        println!("cargo::rerun-if-changed={source}");
    }
    println!("cargo::rerun-if-env-changed=CLANG");
    if let Err(reason) = compile() {
        println!("cargo::error={reason}");
        std::process::exit(1);
    }
}

fn compile() -> Result<(), String> {
    let out = PathBuf::from(env::var("OUT_DIR").map_err(|e| e.to_string())?).join("sampler.bpf.o");
    let clang = env::var("CLANG").unwrap_or_else(|_| "clang".into());
    let status = Command::new(&clang)
        .args([
            "-target", "bpf", "-mcpu=v3", "-O2", "-g", "-Wall", "-Werror", "-c", SOURCES[0], "-o",
        ])
        .arg(&out)
        // Paths of the build machine have no place in the object's debug information.
        .args(["-fdebug-prefix-map=.=", "-fdebug-compilation-dir=."])
        .status()
        .map_err(|error| {
            format!("cannot run {clang} ({error}): install it with `apt-get install clang`")
        })?;
    if status.success() { Ok(()) } else { Err(format!("{clang} could not compile {}", SOURCES[0])) }
}
