//! The order of a check.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread::sleep,
    time::{Duration, Instant},
};

use rabbitscope_diagnosis::{Amqp, Case, Host, Part, Source, Subject};
use rabbitscope_inside::{ModuleLender, NodeParts, module_lending};

use crate::{
    amqp, host, inside,
    load::{self, ObservedLoad, PendingObjects},
    options::CheckOptions,
    packets::{self, Captured},
    pending::{Pending, Readiness},
    profile::{self, ProfileParts},
    refusal::elsewhere,
    span::Span,
};

/// Longest wait for sources to become ready. The others do not wait for one that takes longer.
const SETUP_TIME: Duration = Duration::from_secs(3);

/// Time beyond the duration within which everything ends, [`SETUP_TIME`] included.
const EXTRA_TIME: Duration = Duration::from_secs(5);

/// The same for the node itself: a saturated one loads the agent, and answers, when its schedulers get to it.
const EXTRA_TIME_OF_NODE: Duration = Duration::from_secs(20);

/// Time for the results. After an early end, nothing takes longer.
const FINISHING_TIME: Duration = Duration::from_secs(3);

/// Interval of looks at the clock.
const STEP: Duration = Duration::from_millis(50);

/// Progress of a check.
#[derive(Clone, Copy, Debug)]
pub struct CheckProgress {
    /// Time since the sources were ready.
    pub elapsed: Duration,
    /// The whole duration.
    pub whole: Duration,
}

/// Reads everything about a node that it permits. `stop` ends the check early, with the results until then. Everything
/// ends within the duration and 5 s, or 20 s for a saturated node; a source that does not is left out.
pub fn read(
    options: &CheckOptions,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(CheckProgress),
) -> Case {
    read_all(options, false, (stop, progress)).0
}

/// Like [`read`], and also returns the load of the node's clients, or the reason why the packets do not show it. The
/// packets are those of the check, and the node has its tables of objects read once more.
pub fn read_with_load(
    options: &CheckOptions,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(CheckProgress),
) -> (Case, Result<ObservedLoad, String>) {
    read_all(options, true, (stop, progress))
}

fn read_all(
    options: &CheckOptions,
    is_load_wanted: bool,
    (stop, progress): (&AtomicBool, &mut dyn FnMut(CheckProgress)),
) -> (Case, Result<ObservedLoad, String>) {
    let called = Instant::now();
    let mut readiness = Readiness::new();
    let sources = Sources::start(options, &readiness, is_load_wanted);
    while !stop.load(Ordering::Relaxed) && called.elapsed() < SETUP_TIME {
        if readiness.wait(STEP) {
            break;
        }
    }
    let began = sources.span.begin();
    let is_over = || stop.load(Ordering::Relaxed) || sources.have_ended();
    while !is_over() && began.elapsed() < options.duration {
        progress(CheckProgress { elapsed: began.elapsed(), whole: options.duration });
        sleep(STEP.min(options.duration.saturating_sub(began.elapsed())));
    }
    let is_early = stop.load(Ordering::Relaxed);
    if is_early {
        sources.span.end_early();
    } else {
        sources.span.end();
    }
    let subject =
        Subject { node: options.node.clone(), pid: options.pid, duration: began.elapsed() };
    let deadline = (called + options.duration + EXTRA_TIME).min(Instant::now() + FINISHING_TIME);
    let patience = if is_early { FINISHING_TIME } else { EXTRA_TIME_OF_NODE };
    sources.finish(subject, Deadlines { outside: deadline, inside: Instant::now() + patience })
}

/// Ends of the waits for results.
#[derive(Clone, Copy, Debug)]
struct Deadlines {
    /// For sources outside the node.
    outside: Instant,
    /// For answers of the node, among them the names of profiled processes.
    inside: Instant,
}

/// The sources, each on its thread.
struct Sources {
    span: Span,
    inside: Pending<NodeParts>,
    /// Absent for a node on another machine, like the next two.
    profile: Option<Pending<ProfileParts>>,
    packets: Option<Pending<Part<Captured>>>,
    host: Option<Pending<Part<Host>>>,
    /// Absent unless the user asks for it.
    amqp: Option<Pending<Part<Amqp>>>,
    /// Absent unless the load is wanted.
    objects: Option<PendingObjects>,
}

impl Sources {
    fn start(options: &CheckOptions, readiness: &Readiness, is_load_wanted: bool) -> Self {
        let span = Span::default();
        let (lender, borrower) = module_lending();
        Self {
            inside: start_inside(options, span.clone(), lender),
            profile: options.pid.map(|pid| {
                let (span, unready, options) = (span.clone(), readiness.unready(), options.clone());
                Pending::start(Source::CpuProfile, move |results| {
                    profile::record(pid, &options, borrower, (&span, unready), results);
                })
            }),
            packets: options.pid.map(|pid| {
                let (span, unready, duration) =
                    (span.clone(), readiness.unready(), options.duration);
                Pending::start(Source::Packets, move |results| {
                    let _ = results.send(packets::read(pid, (&span, duration), unready));
                })
            }),
            host: options.pid.map(|pid| {
                let (span, unready) = (span.clone(), readiness.unready());
                Pending::start(Source::Host, move |results| {
                    let _ = results.send(host::read(pid, &span, unready));
                })
            }),
            amqp: start_amqp(options, &span, readiness),
            objects: is_load_wanted.then(|| load::start_objects(options)),
            span,
        }
    }

    /// Returns true if all sources have ended, which means early that none can be read.
    fn have_ended(&self) -> bool {
        fn ended<T: Send + 'static>(source: Option<&Pending<T>>) -> bool {
            source.is_none_or(Pending::has_ended)
        }
        self.inside.has_ended()
            && ended(self.profile.as_ref())
            && ended(self.packets.as_ref())
            && ended(self.host.as_ref())
            && ended(self.amqp.as_ref())
    }

    fn finish(
        self,
        subject: Subject,
        deadlines: Deadlines,
    ) -> (Case, Result<ObservedLoad, String>) {
        let Deadlines { outside: deadline, inside: of_node } = deadlines;
        let mut case = Case::unread(subject);
        let inside = self.inside.finish(of_node);
        inside.unwrap_or_else(|reason| NodeParts::unread(&reason)).fill(&mut case);
        let profile = self.profile.map(|profile| profile.finish(of_node));
        let profile = profile.unwrap_or_else(|| Err(elsewhere(Source::CpuProfile)));
        let ProfileParts { cpu, waits } =
            profile.unwrap_or_else(|reason| ProfileParts::unread(&reason));
        let (packets, capture_end, flows) = match part(self.packets, Source::Packets, deadline) {
            Ok(Captured { report, end, flows }) => (Ok(report), end, Some(flows)),
            Err(unread) => (Err(unread), None, None),
        };
        let channels = case.clients.as_ref().map_or(&[][..], |clients| &clients.channels);
        let turns =
            flows.as_ref().and_then(|flows| load::turns(flows, packets.as_ref().ok()?, channels));
        let case = Case {
            cpu,
            waits,
            packets,
            capture_end,
            turns,
            host: part(self.host, Source::Host, deadline),
            amqp: self.amqp.map(|amqp| amqp.finish(of_node)?),
            ..case
        };
        let objects = self.objects.map(|objects| objects.finish(deadline));
        let objects = objects
            .map_or_else(|| Err(String::new()), |read| read.map_err(|unread| unread.reason)?);
        let load = load::observed(&case, flows, objects);
        (case, load)
    }
}

/// Returns a part by the deadline, or the reason of a source that was not started.
fn part<T: Send + 'static>(
    pending: Option<Pending<Part<T>>>,
    source: Source,
    deadline: Instant,
) -> Part<T> {
    pending.ok_or_else(|| elsewhere(source))?.finish(deadline)?
}

fn start_inside(options: &CheckOptions, span: Span, lender: ModuleLender) -> Pending<NodeParts> {
    let CheckOptions { connect, session, duration, .. } = options.clone();
    Pending::start(Source::Node, move |results| {
        let parts = match (&session, &connect) {
            (None, Ok(connect)) => {
                return inside::read(connect, (duration, &span), lender, results);
            }
            (Some(session), _) => {
                drop(lender);
                session.read(duration, &span)
            }
            (None, Err(reason)) => NodeParts::unread(reason),
        };
        let _ = results.send(parts);
    })
}

fn start_amqp(
    options: &CheckOptions,
    span: &Span,
    readiness: &Readiness,
) -> Option<Pending<Part<Amqp>>> {
    let options = options.amqp.clone()?;
    let (span, unready) = (span.clone(), readiness.unready());
    Some(Pending::start(Source::Amqp, move |results| {
        let _ = results.send(amqp::read(&options, &span, unready));
    }))
}
