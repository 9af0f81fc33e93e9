//! A node in a container: its own process ids, network, host name and root directory, and its own port mapper. The check
//! runs outside.

use std::{
    fs,
    process::{Child, Command, Stdio},
    time::Duration,
};

use rabbitscope_testing::{Workbench, not_run, within};
use serde_json::Value;

/// Script that makes a root directory with the programs of this machine and data of its own, and starts RabbitMQ there.
const INSIDE: &str = "
set -e
ip link set lo up
hostname inner
mkdir -p \"$1\"
mount -t tmpfs tmpfs \"$1\"
cd \"$1\"
for place in bin dev etc lib lib64 sbin usr; do
    [ -e \"/$place\" ] || continue
    mkdir \"$place\"
    mount --rbind \"/$place\" \"$place\"
done
mkdir -p proc run tmp var/lib/rabbitmq var/log/rabbitmq
mount -t proc proc proc
echo '127.0.0.1 localhost inner' >hosts
mount --bind hosts etc/hosts
printf OFTHECONTAINER >var/lib/rabbitmq/.erlang.cookie
chmod 400 var/lib/rabbitmq/.erlang.cookie
exec chroot . env -i PATH=\"$PATH\" HOME=/var/lib/rabbitmq LC_ALL=C.UTF-8 RABBITMQ_NODENAME=rabbit@inner \\
    RABBITMQ_CONF_ENV_FILE=/none RABBITMQ_CONFIG_FILE=/none RABBITMQ_ENABLED_PLUGINS_FILE=/var/lib/rabbitmq/plugins \\
    RABBITMQ_MNESIA_BASE=/var/lib/rabbitmq/mnesia RABBITMQ_LOG_BASE=/var/log/rabbitmq \\
    /usr/lib/rabbitmq/bin/rabbitmq-server
";

const UNSHARE: [&str; 7] =
    ["--fork", "--kill-child=KILL", "--mount", "--pid", "--net", "--ipc", "--uts"];

/// A container that ends with the thread that started it.
struct Container(Child);

impl Container {
    fn start(bench: &Workbench, root: &str) -> Self {
        let child = Command::new("setpriv")
            .args(["--pdeathsig", "KILL", "unshare"])
            .args(UNSHARE)
            .args(["sh", "-c", INSIDE, "sh"])
            .arg(bench.path(root))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        Self(child)
    }

    /// Returns the pid of RabbitMQ's VM outside of the container.
    fn vm(&self) -> Option<u32> {
        let mut seen = vec![self.0.id()];
        while let Some(pid) = seen.pop() {
            let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
            // The scripts start small VMs first.
            if name == "beam.smp\n" && has_argument(pid, "rabbit") {
                return Some(pid);
            }
            let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
            let children = children.unwrap_or_default();
            seen.extend(children.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
        }
        None
    }
}

fn has_argument(pid: u32, expected: &str) -> bool {
    let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    words.split(|byte| *byte == 0).any(|word| word == expected.as_bytes())
}

impl Drop for Container {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_node_in_a_container_is_read_from_outside() {
    let Some(bench) = Workbench::for_root("container") else { return };
    let tried = Command::new("unshare").args(UNSHARE).arg("true").output().unwrap();
    if !tried.status.success() {
        return not_run(&format!(
            "no container: {}",
            String::from_utf8_lossy(&tried.stderr).trim()
        ));
    }
    let container = Container::start(&bench, "root");
    let mut report = Value::Null;
    within(Duration::from_secs(120), "RabbitMQ answers in its container", || {
        let Some(pid) = container.vm() else { return false };
        report =
            bench.rabbitscope(&format!("check --pid {pid} --duration 3s --json")).code(0).json();
        report["rabbitmq"].as_str().is_some_and(|release| !release.is_empty())
    });
    assert_eq!(report["node"], "rabbit@inner");
    assert_eq!(report["unread"], serde_json::json!([]), "{report:#}");
    assert!(report["figures"].as_object().is_some_and(|figures| !figures.is_empty()), "{report:#}");

    let named = bench.rabbitscope("check --node rabbit@inner --duration 3s --json").code(0).json();
    assert_eq!(named["rabbitmq"], report["rabbitmq"], "{named:#}");
    // Other commands find the way by the name alone.
    bench.rabbitscope("queues --node rabbit@inner --json").code(0);

    // A second one of the same name, before RabbitMQ answers there.
    let second = Container::start(&bench, "other");
    within(Duration::from_secs(60), "the second VM runs", || second.vm().is_some());
    let several = bench.rabbitscope("check --node rabbit@inner --duration 3s");
    assert!(several.stderr.contains("several Erlang nodes run"), "{several:?}");
    assert_eq!(several.code, Some(5), "{several:?}");
}
