//! Checks the ability of this machine and a node to be recorded, without starting a recording.

use std::{
    fs::{self, File},
    io::{BufRead, BufReader},
};

use crate::{
    beam::{Inspected, inspect},
    error::ProbeError,
    native::{NameSource, NamedFile, named_files, package_of},
    node::Process,
    permission::{self, KERNEL_SYMBOLS, raise},
    recorder::permitted_clock,
};

/// A condition that a recording needs, or that improves it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// The subject of the check.
    pub what: &'static str,
    /// True if the condition is met.
    pub is_met: bool,
    /// True if no backend can record without it.
    pub is_needed: bool,
    /// The finding and, if the condition is not met, the remedy.
    pub found: String,
}

impl Fact {
    fn needed(what: &'static str, result: Result<String, ProbeError>) -> Self {
        Self { is_needed: true, ..Self::wanted(what, result.map_err(|error| error.to_string())) }
    }

    fn wanted(what: &'static str, result: Result<String, String>) -> Self {
        let is_met = result.is_ok();
        let found = result.unwrap_or_else(|problem| problem);
        Self { what, is_met, is_needed: false, found }
    }
}

/// Checks the machine, and the node if its pid is given.
pub fn explain(pid: Option<u32>) -> Vec<Fact> {
    let mut facts = vec![
        Fact::wanted("eBPF", ebpf()),
        Fact::wanted("kernel symbols", kernel_symbols()),
        Fact::wanted("hardware counter", hardware_counter()),
    ];
    if let Some(pid) = pid {
        node_facts(pid, &mut facts);
    }
    facts
}

fn node_facts(pid: u32, facts: &mut Vec<Fact>) {
    let opened = if Process::exists(pid) {
        Process::open(pid)
    } else {
        Err(ProbeError::NoSuchProcess { pid })
    };
    let process = match opened {
        Ok(process) => process,
        Err(error) => {
            facts.push(Fact::needed("node", Err(error)));
            return;
        }
    };
    facts.push(Fact::needed("node", Ok(format!("pid {pid} is an Erlang VM"))));
    facts.push(Fact::wanted("perf events", perf_events(pid)));
    let Inspected { emulator, code } = match inspect(&process) {
        Ok(inspected) => inspected,
        Err(error) => {
            facts.push(Fact::needed("layout of the VM", Err(error)));
            return;
        }
    };
    let found = format!("OTP {}: all parts were found", emulator.release);
    facts.push(Fact::needed("layout of the VM", Ok(found)));
    let parts = emulator.evidence.iter();
    facts.extend(parts.map(|evidence| Fact::wanted(evidence.part, Ok(evidence.found.clone()))));
    let schedulers = emulator.schedulers(&process);
    let said = schedulers.map(|all| format!("{} threads match the layout", all.len()));
    facts.push(Fact::needed("schedulers", said));
    let named = format!("{} ranges of machine code have names", code.len());
    facts.push(Fact::needed("names of Erlang code", Ok(named)));
    facts.push(Fact::wanted("names of native code", native_names(&named_files(&process))));
    let has_pointers = code.has_frame_pointers();
    facts.push(Fact::wanted("frame pointers", frame_pointers(has_pointers)));
}

/// Checks that files have names for their functions; otherwise names the packages with the missing ones.
fn native_names(files: &[NamedFile]) -> Result<String, String> {
    let short = |file: &NamedFile| file.path.rsplit('/').next().unwrap_or_default().to_owned();
    let with_known_build: Vec<String> =
        files.iter().filter(|file| file.source == NameSource::KnownBuild).map(short).collect();
    let nameless: Vec<&NamedFile> =
        files.iter().filter(|file| file.source == NameSource::Exports).collect();
    let known = if with_known_build.is_empty() {
        String::new()
    } else {
        format!("; names known for this build: {}", with_known_build.join(", "))
    };
    let named = files.len() - nameless.len();
    let count = format!("{named} of {} files have names of all functions{known}", files.len());
    if nameless.is_empty() {
        return Ok(count);
    }
    let helps = nameless.iter().map(|file| match package_of(&file.path) {
        Some(package) => format!("{} ({package}-dbg or {package}-dbgsym)", short(file)),
        None => short(file),
    });
    let helps: Vec<String> = helps.collect();
    Err(format!("{count}; exported functions only: {}", helps.join(", ")))
}

fn ebpf() -> Result<String, String> {
    let missing = permission::require_sampling();
    missing.map(|()| "permitted: has all capabilities".into()).map_err(|error| error.to_string())
}

fn perf_events(pid: u32) -> Result<String, String> {
    match permitted_clock(pid) {
        Ok(clock) if clock.sees_kernel => Ok("permitted, including the kernel's time".into()),
        Ok(_) => Ok("permitted, except for the kernel's time: that needs CAP_PERFMON, or sysctl \
                     kernel.perf_event_paranoid=1"
            .into()),
        Err(error) => {
            let refused = ProbeError::PerfEvents { pid, detail: error.to_string() };
            Err(refused.to_string())
        }
    }
}

/// Checks the names of the kernel's functions. The kernel hides its addresses from processes without `CAP_SYSLOG`.
fn kernel_symbols() -> Result<String, String> {
    let opened = {
        let _raised = raise(KERNEL_SYMBOLS);
        File::open("/proc/kallsyms")
    };
    let mut first = String::new();
    let _ = opened.and_then(|file| BufReader::new(file).read_line(&mut first));
    if first.starts_with("0000000000000000") || first.is_empty() {
        return Err("hidden, so kernel functions have no names: CAP_SYSLOG, or \
                    sysctl kernel.kptr_restrict=0"
            .into());
    }
    Ok("readable".into())
}

fn hardware_counter() -> Result<String, String> {
    if fs::metadata("/sys/bus/event_source/devices/cpu").is_ok() {
        return Ok("available: counts processor cycles".into());
    }
    Err("none, as in most virtual machines: recordings use the CPU's own clock, which is as good here"
        .into())
}

/// Checks frame pointers, which the perf-events backend needs and eBPF does not use.
fn frame_pointers(has_them: bool) -> Result<String, String> {
    if has_them {
        return Ok("on (+JPperf true): perf events find Erlang callers".into());
    }
    Err("off (+JPperf true): eBPF does not need them; perf events find the Erlang callers of Erlang code, but not \
         of C functions"
        .into())
}

#[cfg(test)]
mod tests {
    use super::explain;

    #[test]
    fn a_process_that_is_no_node_is_reported() {
        let facts = explain(Some(std::process::id()));
        let node = facts.iter().find(|fact| fact.what == "node").unwrap();
        assert!(node.is_needed && !node.is_met && node.found.contains("not an Erlang"), "{node:?}");
        assert!(explain(None).iter().all(|fact| fact.what != "node"));
    }
}
