//! A broker's end takes all that belongs to it, and nothing else.

use std::{
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use rabbitscope_broker::{Broker, Registry};
use rabbitscope_runs::scenario::ThrowawayBroker;
use rabbitscope_testing::{Workbench, eventually, is_root, not_run, processes_showing};

/// A process that ends with the test.
struct Bystander(Child);

impl Bystander {
    /// Starts a process with the variable that names the broker's directory.
    fn start(directory: &Path, command: &[&str]) -> Self {
        let mut process = Command::new("setsid");
        process.args(command).env("RABBITSCOPE_BROKER", directory);
        Self(process.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap())
    }

    /// Starts a process with that variable on a terminal of its own. Its parent (`script`), which provides the
    /// terminal, has neither.
    fn start_on_terminal(directory: &Path) -> Self {
        let command = format!("RABBITSCOPE_BROKER={} exec sleep 117", directory.display());
        let mut process = Command::new("setsid");
        process.args(["script", "--quiet", "--command", &command, "/dev/null"]);
        Self(process.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap())
    }

    fn has_ended(&mut self) -> bool {
        self.0.try_wait().unwrap().is_some()
    }
}

impl Drop for Bystander {
    fn drop(&mut self) {
        let group = rustix::process::Pid::from_child(&self.0);
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        let _ = self.0.wait();
    }
}

/// The variable alone does not make a process the broker's. It is neither enough for another user's process nor for a
/// shell on a terminal. Processes that the node started end with it, in a session of their own or not.
#[test]
fn only_what_belongs_to_the_broker_ends_with_it() {
    if !is_root() {
        return;
    }
    for detached in [false, true] {
        let place = Workbench::new("broker");
        let broker = (!detached).then(|| {
            Broker::start(&ThrowawayBroker::default(), &place.path("broker.log")).unwrap()
        });
        let node = match &broker {
            Some(broker) => (**broker).clone(),
            None => Broker::start_detached(&ThrowawayBroker::default()).unwrap().remove(0),
        };
        let own = &node.directory;
        let sleep = |seconds: &'static str| ["sleep", seconds];
        let mut of_node = Bystander::start(own, &sleep("117"));
        let other_user = ["setpriv", "--reuid=65534", "--clear-groups", "sleep", "117"];
        let mut other_user = Bystander::start(own, &other_user);
        let mut on_terminal = Bystander::start_on_terminal(own);
        let mut other_broker = Bystander::start(&own.with_extension("other"), &sleep("117"));
        eventually("all have replaced what they began as", || sleeping(own) == 3);

        match broker {
            Some(broker) => broker.stop(),
            None => node.end().unwrap(),
        }
        assert!(!own.exists());
        eventually("what the node started has ended", || of_node.has_ended());
        thread::sleep(Duration::from_millis(200));
        assert!(!other_user.has_ended(), "another user's");
        assert!(!other_broker.has_ended(), "another broker's");
        assert!(!on_terminal.has_ended(), "on a terminal");
        assert_eq!(sleeping(own), 2);
    }
}

/// Number of `sleep` processes with the variable of this broker.
fn sleeping(directory: &Path) -> usize {
    let is_sleep = |pid: &u32| {
        std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name == "sleep\n")
    };
    let has_variable = |pid: &u32| {
        let pairs = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let wanted = format!("RABBITSCOPE_BROKER={}", directory.display());
        pairs.split(|&byte| byte == 0).any(|pair| pair == wanted.as_bytes())
    };
    processes_showing(directory.display())
        .iter()
        .filter(|pid| is_sleep(pid) && has_variable(pid))
        .count()
}

/// The guard gives up, the program continues, and the next start reports the directory.
#[test]
fn a_directory_that_cannot_be_removed_is_said() {
    let place = Workbench::new("broker");
    let broker = Broker::start(&ThrowawayBroker::default(), &place.path("broker.log")).unwrap();
    let (own, name) = (broker.directory.clone(), broker.name.clone());
    let mounted = own.join("data");
    let run = |program: &str, arguments: &[&str]| {
        let status = Command::new(program).args(arguments).arg(&mounted).status();
        status.is_ok_and(|status| status.success())
    };
    std::fs::create_dir(place.path("precious")).unwrap();
    std::fs::write(place.path("precious/file"), "").unwrap();
    let precious = place.path("precious").display().to_string();
    if !run("mount", &["--bind", &precious]) {
        return not_run("mounting needs root");
    }
    let guard = processes_showing(own.join("guard.sh").display());
    assert_eq!(guard.len(), 1, "{guard:?}");
    let began = Instant::now();
    broker.stop();
    let took = began.elapsed();
    let has_guard = Path::new(&format!("/proc/{}", guard[0])).exists();
    let said = sweep(&name);
    let unmounted = run("umount", &[]);
    assert!(unmounted && place.path("precious/file").exists(), "what is mounted is not ours");
    assert!(took < Duration::from_secs(20) && !has_guard, "{took:?}");
    assert!(own.exists());
    assert!(said.contains(own.to_str().unwrap()) && said.contains("unmount"), "{said}");
    assert_eq!(sweep(&name), "removed");
    assert!(!own.exists());
}

/// The next start's report on the broker of that name.
fn sweep(name: &str) -> String {
    let swept = Registry::open().unwrap().sweep().unwrap();
    let found = swept.into_iter().find(|broker| broker.name == name).unwrap();
    found.left.map_or("removed".to_owned(), |error| error.to_string())
}
