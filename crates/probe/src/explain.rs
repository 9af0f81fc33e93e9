//! What this machine and a node allow a recording to do, asked without starting one.

use std::fs;

use crate::{
    beam::{CodeMap, Emulator},
    error::ProbeError,
    node::{Process, is_beam},
    permission,
};

/// One thing that a recording needs or that makes it better.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// What was looked at.
    pub what: &'static str,
    /// Whether it is as it should be.
    pub is_met: bool,
    /// Whether nothing can be recorded by eBPF without it.
    pub is_needed: bool,
    /// What was found and, when it is not met, what to do.
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

/// Looks at the machine, and at the node when its pid is given.
pub fn explain(pid: Option<u32>) -> Vec<Fact> {
    let mut facts = vec![
        Fact::needed("capabilities", permission::require_sampling().map(|()| "all there".into())),
        Fact::wanted("kernel symbols", kernel_symbols()),
        Fact::wanted("hardware counter", hardware_counter()),
    ];
    if let Some(pid) = pid {
        node_facts(pid, &mut facts);
    }
    facts
}

fn node_facts(pid: u32, facts: &mut Vec<Fact>) {
    facts.push(Fact::needed("node", beam(pid)));
    let opened = Process::open(pid);
    let read = opened.and_then(|process| Ok((Emulator::read(&process)?, process)));
    let (emulator, process) = match read {
        Ok(both) => both,
        Err(error) => {
            facts.push(Fact::needed("layout of the release", Err(error)));
            return;
        }
    };
    let release = format!("OTP {} is known", emulator.release);
    facts.push(Fact::needed("layout of the release", Ok(release)));
    let schedulers = emulator.schedulers(&process);
    let said = schedulers.map(|all| format!("{} threads agree with it", all.len()));
    facts.push(Fact::needed("schedulers", said));
    let code = CodeMap::read(&process, emulator.jit_descriptor, pid);
    let named = code.map(|code| format!("{} places of machine code have names", code.len()));
    facts.push(Fact::needed("names of Erlang code", named));
    facts.push(Fact::wanted("frame pointers", frame_pointers(pid)));
}

fn beam(pid: u32) -> Result<String, ProbeError> {
    match (Process::exists(pid), is_beam(pid)) {
        (false, _) => Err(ProbeError::NoSuchProcess { pid }),
        (true, false) => {
            let program = crate::node::first_argument(pid).unwrap_or_default();
            Err(ProbeError::NotABeam { pid, program })
        }
        (true, true) => Ok(format!("pid {pid} is an Erlang VM")),
    }
}

/// Of other users' processes the kernel hides its addresses when this says so.
fn kernel_symbols() -> Result<String, String> {
    let text = fs::read_to_string("/proc/kallsyms").unwrap_or_default();
    let first = text.lines().next().unwrap_or_default();
    if first.starts_with("0000000000000000") || first.is_empty() {
        return Err("hidden, so kernel functions have no names: CAP_SYSLOG, or \
                    sysctl kernel.kptr_restrict=0"
            .into());
    }
    Ok("readable".into())
}

fn hardware_counter() -> Result<String, String> {
    if fs::metadata("/sys/bus/event_source/devices/cpu").is_ok() {
        return Ok("there: processor cycles tick".into());
    }
    Err("none, as in most virtual machines: the CPU's own clock ticks, which is as good here"
        .into())
}

/// Needed by `perf record -g` and by nothing in this program.
fn frame_pointers(pid: u32) -> Result<String, String> {
    if fs::metadata(format!("/tmp/perf-{pid}.map")).is_ok() {
        return Ok(format!(
            "/tmp/perf-{pid}.map is there: perf record -g can name Erlang code too"
        ));
    }
    Err("not asked for (+JPperf true): perf record would see no Erlang code; not needed here"
        .into())
}

#[cfg(test)]
mod tests {
    use super::explain;

    #[test]
    fn a_process_that_is_no_node_is_said() {
        let facts = explain(Some(std::process::id()));
        let node = facts.iter().find(|fact| fact.what == "node").unwrap();
        assert!(node.is_needed && !node.is_met && node.found.contains("not an Erlang"), "{node:?}");
        assert!(explain(None).iter().all(|fact| fact.what != "node"));
    }
}
