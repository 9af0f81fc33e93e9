//! A node in a container, with its own process ids, files and network.

use std::{
    fs,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use rabbitscope_probe::{ContinuousOptions, ContinuousRecorder};
use rabbitscope_profiles::{FrameKind, Profile};

use crate::bench::{has_frame, names, not_run, record, source_path};

/// Script that runs as process 1 of its container, from files that exist nowhere else: the VM under /mnt/container,
/// which only its own mounts have.
const INSIDE: &str = r#"
    vm=$(dirname "$(dirname "$(readlink -f "$(command -v erl)")")")
    mount -t tmpfs tmpfs /mnt && mkdir /mnt/container && mount --bind "$vm" /mnt/container || exit 1
    export ROOTDIR=/mnt/container EMU=beam PROGNAME=erl
    BINDIR=$(echo /mnt/container/erts-*/bin)
    export BINDIR
    exec "$BINDIR/erlexec" -noshell -noinput -eval "
        {ok, Module, Code} = compile:file(\"$1\", [binary]),
        {module, _} = code:load_binary(Module, \"burn\", Code),
        burn:start(member)."
"#;

/// Arguments of `unshare` for a container. The command to run in it follows.
const UNSHARE: [&str; 9] = [
    "--fork",
    "--kill-child=KILL",
    "--mount",
    "--pid",
    "--mount-proc",
    "--net",
    "--ipc",
    "--uts",
    "--cgroup",
];

/// A container that dies with the thread that started it.
struct Container(Child);

impl Container {
    /// The message of `unshare` if no container is possible, as in a chroot.
    fn refusal() -> Option<String> {
        let tried = Command::new("unshare").args(UNSHARE).arg("true").output().unwrap();
        let said = String::from_utf8_lossy(&tried.stderr).trim().to_owned();
        (!tried.status.success()).then_some(said)
    }

    fn start() -> Self {
        let child = Command::new("setpriv")
            .args(["--pdeathsig", "KILL", "unshare"])
            .args(UNSHARE)
            .args(["sh", "-c", INSIDE, "sh"])
            .arg(source_path())
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        Self(child)
    }

    /// Pid of the VM outside of the container.
    fn vm(&self) -> u32 {
        let deadline = Instant::now() + Duration::from_secs(30);
        let starter = self.0.id();
        loop {
            let children = fs::read_to_string(format!("/proc/{starter}/task/{starter}/children"));
            let first = children.unwrap().split(' ').next().and_then(|pid| pid.parse().ok());
            if let Some(pid) = first
                && fs::read_to_string(format!("/proc/{pid}/comm"))
                    .is_ok_and(|name| name == "beam.smp\n")
                // The name appears before the file is mapped.
                && fs::read_to_string(format!("/proc/{pid}/maps"))
                    .is_ok_and(|maps| maps.contains("/beam.smp"))
            {
                return pid;
            }
            assert!(Instant::now() < deadline, "no VM in the container");
            thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_node_in_a_container_has_names_for_everything() {
    if let Some(refusal) = Container::refusal() {
        let reason = format!("no container can be made here: {refusal}");
        return not_run(&reason);
    }
    let container = Container::start();
    let pid = container.vm();
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let own_pid = status.lines().find(|line| line.starts_with("NSpid:")).unwrap();
    assert!(own_pid.ends_with("\t1"), "{own_pid}");
    let files = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap();
    assert!(files.contains("/mnt/container/") && !fs::exists("/mnt/container").unwrap());

    let profile = busy_profile(pid);
    let (mut all, mut named) = (0, 0);
    for sample in &profile.samples {
        if has_frame(&profile, sample, "burn:seventy/2") {
            all += sample.weight;
            let stack = names(&profile, sample);
            let bif = stack.iter().position(|&(name, ..)| name == "lists:member/2");
            let below = bif.and_then(|index| stack.get(index + 1));
            // Without its file a C function has the name of its module with an offset.
            named += below
                .filter(|(name, kind, _)| *kind == FrameKind::Native && !name.contains('+'))
                .map_or(0, |_| sample.weight);
        }
    }
    assert!(all > 300, "{all} samples");
    assert!(named * 10 > all * 8, "{named} of {all} with names");
    assert!(profile.quality.accounted_share() >= 0.97, "{:?}", profile.quality);
    check_at_a_shared_clock(pid);
}

/// Checks that the shared clock identifies a node by its pid on this machine, and the node's program a thread by
/// its id in the container.
fn check_at_a_shared_clock(pid: u32) {
    let options = ContinuousOptions { freq_hz: 499, has_off_cpu: false };
    let mut recorder = ContinuousRecorder::start(&options).unwrap();
    recorder.add(pid).unwrap();
    let deadline = Instant::now() + Duration::from_secs(30);
    let (mut all, mut busy) = (0, 0);
    while all < 100 {
        assert!(Instant::now() < deadline, "{all} samples in 30 s");
        thread::sleep(Duration::from_millis(100));
        let window = recorder.end_window().remove(0).unwrap();
        let profile = &window.profiles[0];
        all += profile.total();
        let there =
            profile.samples.iter().filter(|sample| has_frame(profile, sample, "lists:member/2"));
        busy += there.map(|sample| sample.weight).sum::<u64>();
    }
    assert!(busy * 2 > all, "{busy} of {all} samples in the planted code");
}

/// A profile of the running VM with the planted code at work.
fn busy_profile(pid: u32) -> Profile {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let found = record(pid, 3.0).ok().filter(|profile| {
            let is_busy = |sample| has_frame(profile, sample, "burn:seventy/2");
            profile
                .samples
                .iter()
                .filter(|sample| is_busy(sample))
                .map(|sample| sample.weight)
                .sum::<u64>()
                > 300
        });
        if let Some(profile) = found {
            return profile;
        }
        assert!(Instant::now() < deadline, "the planted code does not run");
    }
}
