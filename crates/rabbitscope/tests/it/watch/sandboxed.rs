//! `watch` with only the privileges that the unit for systemd and the `DaemonSet` give it, in its own time namespace,
//! and in its own pid namespace.

use std::{collections::BTreeSet, fs};

use rabbitscope_broker::Broker;
use rabbitscope_testing::{Workbench, eventually, not_run, own_broker, repository};

use super::watched::Watched;

/// Makes the mounts of `ProtectSystem=strict`, except for the test's directory, and a clock that is an hour ahead.
const SANDBOX: &str =
    "unshare --mount --time --monotonic 3600 --boottime 3600 --fork --kill-child=KILL";

#[test]
fn the_unit_gives_enough_and_a_clock_of_a_container_does_not_matter() {
    let Some(bench) = place_for("sandboxed", SANDBOX) else { return };
    let unit = deployed("systemd/rabbitscope-watch.service");
    let capabilities = capabilities_of(&unit);
    assert_eq!(capabilities, capabilities_in_manifest(), "the unit's and the DaemonSet's");
    let raised: Vec<String> = capabilities.iter().map(|name| format!("+{name}")).collect();
    let bounds = raised.join(",");
    // These settings would hide the names of the kernel's functions.
    let hides = ["ProtectKernelTunables=yes", "ProtectKernelLogs=yes"];
    assert!(hides.iter().all(|key| !unit.lines().any(|line| line == *key)));

    let broker = own_broker();
    bench.file("watch.toml", configuration(&broker));
    let place = bench.directory.display();
    bench.file(
        "sandbox.sh",
        format!(
            "set -e\nmount --make-rprivate /\nmount --bind {place} {place}\n\
             mount -o remount,bind,ro /\nmount -o remount,bind,ro /sys 2>/dev/null || true\n\
             cd {place}\nexec setpriv --bounding-set=-all,{bounds} --inh-caps=-all --no-new-privs \"$@\"\n"
        ),
    );
    let watched = Watched::start_with(bench, &format!("{SANDBOX} sh sandbox.sh"));
    // The namespace's first process is `watch`, the child of the started process.
    eventually("kernel functions have names", || {
        watched.windows(&broker.name).len() > 1 && {
            let _ = watched.flamegraph("-o all.folded");
            watched.bench.path("all.folded").exists()
                && watched.bench.read("all.folded").contains("do_syscall_64_[k]")
        }
    });
}

/// Pids in this namespace differ from those by which the kernel's programs know threads of the machine.
const PIDS: &str = "unshare --pid --mount-proc --fork --kill-child=KILL";

#[test]
fn who_watches_and_who_is_watched_may_have_pids_of_their_own() {
    let Some(bench) = place_for("pids", PIDS) else { return };
    bench.file(
        "watch.toml",
        "[record]\nfrequency = 499\nwindow = '1s'\n[nodes]\nonly = ['inside@pids']\n\
         every-vm = true\n[directory]\npath = 'windows'\n",
    );
    bench.file(
        "alone.sh",
        "cd \"$1\" && shift\nRABBITMQ_NODENAME=inside@pids erl -noshell -noinput -eval '\
         F = fun F() -> lists:seq(1, 1000), F() end, F().' &\nexec \"$@\"\n",
    );
    let prefix = format!("{PIDS} sh alone.sh {}", bench.directory.display());
    let watched = Watched::start_with(bench, &prefix);
    eventually("what the node does is in its windows", || {
        watched.windows("inside@pids").len() > 1 && {
            let _ = watched.flamegraph("-o all.folded");
            watched.bench.path("all.folded").exists()
                && watched.bench.read("all.folded").contains("erl_eval:")
        }
    });
}

/// Returns a bench for a test that needs these namespaces. Absent, with a message, if namespaces or profiles are
/// unavailable.
fn place_for(name: &str, namespaces: &str) -> Option<Workbench> {
    let bench = Workbench::for_root(name)?;
    let tried = bench.command_line(&format!("{namespaces} true")).output().unwrap();
    if !tried.status.success() {
        not_run(&String::from_utf8_lossy(&tried.stderr));
        return None;
    }
    Some(bench)
}

fn configuration(broker: &Broker) -> String {
    format!(
        "[record]\nfrequency = 499\nwindow = '1s'\n[nodes]\nonly = ['{}*']\n\
         [directory]\npath = 'windows'\n",
        broker.name
    )
}

/// Reads a file from `deploy/`, which is for users.
fn deployed(name: &str) -> String {
    fs::read_to_string(repository("deploy").join(name)).unwrap()
}

fn capabilities_of(unit: &str) -> BTreeSet<String> {
    let set = unit.lines().find_map(|line| line.strip_prefix("CapabilityBoundingSet=")).unwrap();
    set.split(' ').map(|name| name.trim_start_matches("CAP_").to_lowercase()).collect()
}

fn capabilities_in_manifest() -> BTreeSet<String> {
    let manifest = deployed("kubernetes/watch.yaml");
    let set = manifest.lines().find_map(|line| line.trim().strip_prefix("add: [")).unwrap();
    set.trim_end_matches(']').split(", ").map(str::to_lowercase).collect()
}
