//! Tests of processes that never end, send nothing, or send impossible updates: the run ends, and names the process at
//! fault.

use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
    rc::Rc,
    sync::atomic::AtomicBool,
    time::{Duration, Instant},
};

use rabbitscope_amqp::Uri;
use rabbitscope_measurements::{
    IntervalMeasurements, IntervalReport, LoadOutcome, PartSize, PartState, PartWishes, Progress,
    PublisherCounts, RemoteEvent, RemoteStart, RemoteWorkers, RunAge, WorkerUpdate,
};
use rabbitscope_runs::{
    record::{DoubtKind, Verdict},
    scenario,
};
use rabbitscope_timing::RunInstant;
use rabbitscope_topology::Dialer;

use super::remote::join_parts;
use crate::{context::RunContext, share::Share};

/// Upper limit of the length of these runs, in seconds.
const TOO_LONG: u64 = 2_000;

/// The updates of a process at the end of a second.
type Tell = Box<dyn Fn(u32) -> Vec<WorkerUpdate>>;

/// Processes with one thread each. Their clock advances by a second whenever no event is left.
struct Processes {
    second: Rc<Cell<u64>>,
    tell: Vec<Tell>,
    events: VecDeque<RemoteEvent>,
    given_up: Rc<RefCell<Vec<usize>>>,
}

impl RemoteWorkers for Processes {
    fn next(&mut self, _: Duration, _: &AtomicBool) -> Option<RemoteEvent> {
        if let Some(event) = self.events.pop_front() {
            return Some(event);
        }
        self.second.set(self.second.get() + 1);
        let ended = u32::try_from(self.second.get()).unwrap() - 1;
        for (worker, tell) in self.tell.iter().enumerate() {
            for update in tell(ended) {
                self.events.push_back(RemoteEvent::Update { worker, update: update.encode() });
            }
            if self.second.get() >= TOO_LONG {
                let reason = "the test was over".to_owned();
                self.events.push_back(RemoteEvent::Lost { worker, reason });
            }
        }
        None
    }

    fn wish(&mut self, _: PartWishes) {}

    fn is_behind(&self) -> bool {
        false
    }

    fn give_up(&mut self, worker: usize) -> String {
        self.given_up.borrow_mut().push(worker);
        format!("worker {worker} on a host")
    }
}

fn interval(second: u32, is_last: bool) -> IntervalReport {
    IntervalReport {
        worker: 0,
        second,
        start: RunInstant::of_second(second),
        end: RunInstant::of_second(second + 1),
        draining: is_last,
        is_last,
        measured: IntervalMeasurements::default(),
        publisher_counts: PublisherCounts::default(),
    }
}

/// The update at the end of a second.
fn update(second: u32, is_last: bool) -> WorkerUpdate {
    WorkerUpdate {
        number: u64::from(second) + 1,
        intervals: vec![interval(second, is_last)],
        covered_until: RunInstant::of_second(second + 1),
        state: PartState { ended: usize::from(is_last), ..PartState::default() },
        ..WorkerUpdate::default()
    }
}

/// Sends an update every second, and ends after `seconds`.
fn ends_after(seconds: u32) -> Tell {
    Box::new(move |second| match second {
        _ if second < seconds => vec![update(second, false)],
        _ if second == seconds => vec![update(second, true)],
        _ => Vec::new(),
    })
}

/// The outcome of a run, its length in seconds, the number of its rows, and the dropped processes.
struct Joined {
    outcome: LoadOutcome,
    seconds: u64,
    rows: usize,
    given_up: Vec<usize>,
}

fn join(duration: &str, tell: Vec<Tell>) -> Joined {
    let text = format!(
        "name = 'r'\nrun = {{ duration = '{duration}' }}\nqueues = [{{ name = 'q' }}]\n\
         publishers = [{{ queue = 'q' }}]"
    );
    let scenario = scenario::parse(&text, "test", &[]).unwrap();
    let dialer = Dialer::to(Uri::parse("amqp://h").unwrap());
    let context = RunContext {
        scenario: &scenario,
        plans: &[],
        dialer: &dialer,
        restorer: None,
        share: Share::WHOLE,
    };
    let parts = vec![PartSize { load_threads: 1, ..PartSize::default() }; tell.len()];
    let begun = RemoteStart { unix_nanos: 1, parts, age: RunAge::default() };
    let (second, given_up) = (Rc::<Cell<u64>>::default(), Rc::<RefCell<Vec<usize>>>::default());
    let mut processes = Processes {
        second: Rc::clone(&second),
        tell,
        events: VecDeque::new(),
        given_up: Rc::clone(&given_up),
    };
    let origin = Instant::now();
    let clock = || origin + Duration::from_secs(second.get());
    let mut rows = 0;
    let mut progress =
        |told: Progress<'_>| rows += usize::from(matches!(told, Progress::Second(_)));
    let stop = AtomicBool::new(false);
    let outcome = join_parts(&context, &begun, &mut processes, &mut progress, (&stop, &clock));
    let given_up = given_up.take();
    Joined { outcome, seconds: second.get(), rows, given_up }
}

impl Joined {
    /// Asserts that the run is complete, but in doubt for this reason.
    #[track_caller]
    fn lags(&self, expected: &str) {
        assert_eq!(self.outcome.verdict, Verdict::Completed);
        let doubts = self.outcome.doubts.iter();
        let lagging: Vec<_> =
            doubts.filter(|doubt| doubt.kind == DoubtKind::WorkerLagging).collect();
        let [doubt] = &lagging[..] else { panic!("{:#?}", self.outcome.doubts) };
        assert!(doubt.reason.contains(expected), "{doubt:?}");
    }

    #[track_caller]
    fn is_aborted(&self, expected: &str) {
        let Verdict::Aborted { reason } = &self.outcome.verdict else {
            panic!("{:?}", self.outcome.verdict)
        };
        assert!(reason.contains(expected), "{reason}");
    }
}

#[test]
fn a_process_that_never_ends_is_not_waited_for() {
    let joined = join("3s", vec![ends_after(3), ends_after(u32::MAX)]);
    joined.lags("worker 1 on a host is still not done long after the scenario's latest end");
    assert_eq!(joined.given_up, [1]);
    // 3 s of load, 123 s for answers, drain and close, and 30 s more.
    assert_eq!(joined.seconds, 156);
    let joined = join("3s", vec![ends_after(3), ends_after(154)]);
    assert_eq!((joined.given_up, joined.seconds), (Vec::new(), 155), "it is late, and in time");
    assert!(joined.outcome.doubts.is_empty(), "{:?}", joined.outcome.doubts);
}

#[test]
fn rows_do_not_wait_for_ever_for_a_process_that_tells_nothing() {
    let joined = join("400s", vec![ends_after(400), Box::new(|_| Vec::new())]);
    joined.lags("worker 1 on a host is behind: 181 seconds of the others wait for it");
    assert_eq!((joined.given_up, joined.seconds), (vec![1], 401));
    assert_eq!(joined.rows, 401, "the others go on");
}

#[test]
fn a_process_that_runs_ahead_of_the_clock_is_refused() {
    let runs_ahead = |ahead: u32| -> Tell {
        Box::new(move |second| match second {
            0 => (0..=ahead).map(|second| update(second, false)).collect(),
            _ if second + ahead <= 400 => vec![update(second + ahead, second + ahead == 400)],
            _ => Vec::new(),
        })
    };
    let joined = join("400s", vec![ends_after(400), runs_ahead(9)]);
    assert_eq!((joined.given_up.len(), joined.outcome.verdict), (0, Verdict::Completed));
    let joined = join("400s", vec![ends_after(400), runs_ahead(300)]);
    joined.is_aborted("worker 1 on a host sent an impossible update");
    joined.is_aborted("ahead of any possible clock");
    assert_eq!(joined.given_up[0], 1);
}
