//! `rabbitscope packets`, against a real broker: what is planted is found and named, what is not planted is not; counts are those of
//! the load; no secret is in any file.

mod client;
mod files;
mod planted;
mod runs;

use std::{fs, process::Child};

use crate::workbench::{Workbench, eventually, not_run};

/// True where packets may be captured; else says that the test did not run.
fn may_capture(test: &str) -> bool {
    let may = rustix::process::geteuid().is_root();
    if !may {
        not_run(test, "capturing packets takes root");
    }
    may
}

/// Begins to look at a port; returns when packets are seen.
fn look(bench: &Workbench, arguments: &str) -> Child {
    let sockets = || fs::read_to_string("/proc/net/packet").unwrap().lines().count();
    let before = sockets();
    let child = bench.start(&format!("packets {arguments}"));
    eventually("packets are captured", || sockets() > before);
    child
}
