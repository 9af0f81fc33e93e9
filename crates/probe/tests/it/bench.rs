//! A node to record, Erlang processes that burn its CPU, and functions that read a profile.

use std::{
    path::{Path, PathBuf},
    rc::Rc,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::channel,
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use rabbitscope_broker::Broker;
use rabbitscope_probe::{CpuOptions, Options, ProbeError, record_cpu};
use rabbitscope_profiles::{Event, FrameKind, Profile, Sample};
use rabbitscope_testing::load_module;

/// Turn of the only burner: two would share the schedulers, and the tests are about shares.
static TURN: Mutex<()> = Mutex::new(());

/// Limit for a recording whose test does not end it.
const LONGEST_PLANTING: Duration = Duration::from_secs(60);

/// A process of the module in `burn.erl`, killed at the end of the test.
pub(crate) struct Burner {
    pid: String,
    _turn: Rc<MutexGuard<'static, ()>>,
}

pub(crate) use rabbitscope_testing::{existing_broker as node, not_run, own_broker as own_node};

/// Loads `burn.erl` under the name `module`.
pub(crate) fn load(broker: &Broker, module: &str) {
    let source = std::fs::read_to_string(source_path()).unwrap();
    let own = broker.directory.join(format!("{module}.erl"));
    std::fs::write(&own, source.replace("-module(burn)", &format!("-module({module})"))).unwrap();
    load_module(broker, &own);
    std::fs::remove_file(&own).unwrap();
}

pub(crate) fn source_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/burn.erl")
}

/// Starts a burner on the shared node. `kind` is an Erlang term that `burn:start/1` knows.
pub(crate) fn burn(kind: &str) -> Burner {
    burn_all([kind.to_owned()]).remove(0)
}

/// Starts several burners at the same time.
pub(crate) fn burn_all(kinds: impl IntoIterator<Item = String>) -> Vec<Burner> {
    static LOADED: OnceLock<()> = OnceLock::new();
    let turn = Rc::new(TURN.lock().unwrap_or_else(PoisonError::into_inner));
    LOADED.get_or_init(|| load(node(), "burn"));
    let burner = |kind: String| Burner { pid: start(node(), "burn", &kind), _turn: turn.clone() };
    kinds.into_iter().map(burner).collect()
}

/// Starts a burner and returns its pid in the node's notation.
pub(crate) fn start(broker: &Broker, module: &str, kind: &str) -> String {
    let pid = broker.eval(&format!("pid_to_list({module}:start({kind}))."));
    pid.unwrap().trim().trim_matches('"').to_owned()
}

impl Burner {
    /// The samples of this process in a profile.
    pub(crate) fn samples<'a>(&'a self, profile: &'a Profile) -> impl Iterator<Item = &'a Sample> {
        let own = Some(self.pid.as_str());
        profile.samples.iter().filter(move |sample| sample.labels.process.as_deref() == own)
    }

    /// Weight of this process's samples in all of `profiles`, and of those with `function` anywhere in their stack.
    pub(crate) fn weights(&self, profiles: &[Profile], function: &str) -> (u64, u64) {
        let weight = |wanted: &dyn Fn(&Profile, &Sample) -> bool| -> u64 {
            let of_one = |profile: &Profile| -> u64 {
                let samples = self.samples(profile).filter(|sample| wanted(profile, sample));
                samples.map(|sample| sample.weight).sum()
            };
            profiles.iter().map(of_one).sum()
        };
        (weight(&|_, _| true), weight(&|profile, sample| has_frame(profile, sample, function)))
    }
}

impl Drop for Burner {
    fn drop(&mut self) {
        let pid = &self.pid;
        let _ = node().eval(&format!("exit(list_to_pid(\"{pid}\"), kill)."));
    }
}

pub(crate) fn has_frame(profile: &Profile, sample: &Sample, function: &str) -> bool {
    sample.stack.iter().any(|entry| profile.frames.get(entry.frame).name == function)
}

/// Names of a stack, root first.
pub(crate) fn names<'a>(profile: &'a Profile, sample: &Sample) -> Vec<(&'a str, FrameKind, u32)> {
    let named = sample.stack.iter().map(|entry| {
        let frame = profile.frames.get(entry.frame);
        (frame.name.as_str(), frame.kind, entry.repeat)
    });
    named.collect()
}

/// Records `pid` on another thread. Returns after the first samples.
pub(crate) fn record_aside(pid: u32, seconds: f64) -> JoinHandle<Result<Profile, ProbeError>> {
    let (begun, has_begun) = channel();
    let recorder = thread::spawn(move || {
        record_cpu(&options(pid, seconds), &AtomicBool::new(false), &mut |progress| {
            if progress.samples > 0 {
                let _ = begun.send(());
            }
        })
    });
    has_begun.recv_timeout(Duration::from_secs(30)).unwrap();
    recorder
}

/// Records `pid` for `seconds`.
pub(crate) fn record(pid: u32, seconds: f64) -> Result<Profile, ProbeError> {
    record_cpu(&options(pid, seconds), &AtomicBool::new(false), &mut |_| ())
}

fn options(pid: u32, seconds: f64) -> CpuOptions {
    CpuOptions { pid, freq_hz: 999, duration: Some(Duration::from_secs_f64(seconds)) }
}

/// Records several events of `pid` while `plant` acts on the node. The duration depends on the load of the machine.
pub(crate) fn record_events(pid: u32, events: &[Event], plant: impl FnOnce()) -> Vec<Profile> {
    let (begun, has_begun) = channel();
    let stop = Arc::new(AtomicBool::new(false));
    let options = Options {
        pid,
        events: events.to_vec(),
        freq_hz: 999,
        duration: Some(LONGEST_PLANTING),
        backend: None,
    };
    let is_done = Arc::clone(&stop);
    let recorder = thread::spawn(move || {
        rabbitscope_probe::record(&options, &is_done, &mut |_| {
            let _ = begun.send(());
        })
    });
    has_begun.recv_timeout(Duration::from_secs(30)).unwrap();
    plant();
    stop.store(true, Ordering::Relaxed);
    recorder.join().unwrap().unwrap().profiles
}
