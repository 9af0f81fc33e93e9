//! Removal with an application that publishes before one of its steps: no message that the broker has confirmed is
//! lost.

use std::{cell::RefCell, io, sync::atomic::AtomicBool, thread, time::Duration};

use rabbitscope_amqp::Uri;
use rabbitscope_load::{BrokerOwner, CleanupJournal, Session};
use rabbitscope_runs::scenario;
use rabbitscope_testing::existing_broker;
use rabbitscope_testing::scenario::{Publishers, Queue, Scenario};
use rabbitscope_topology::{
    Dialer, ForeignBindings, Leftovers, Messages, OwnedTopology, Removal, TopologyError,
    remove_leftovers,
};

use crate::stepping::{Application, Stepping};

/// A journal that keeps every entry.
#[derive(Default)]
struct Journal(RefCell<Vec<String>>);

impl CleanupJournal for Journal {
    fn remember(&self, declaring: &OwnedTopology) -> io::Result<()> {
        self.0.borrow_mut().push(declaring.token.clone());
        Ok(())
    }

    fn undone(&self, _: &OwnedTopology, _: Result<Removal, TopologyError>) {}
}

/// The end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// The run removes its declarations.
    Closed,
    /// The run removes its declarations, with its own messages in the queue.
    ClosedFull,
    /// The run is killed, and a later run removes empty objects.
    Killed,
}

/// Counts over many removals.
#[derive(Debug, Default)]
struct Tally {
    published: u32,
    lost: u32,
    removed: u32,
    kept: u32,
}

fn connect() -> (Stepping, Dialer) {
    let (user, password) = existing_broker().login();
    let application = Application::new(&existing_broker().uri());
    let stepping = Stepping::start(existing_broker().address(), application);
    let through = format!("amqp://{user}:{password}@{}/%2f", stepping.address);
    let dialer = Dialer::to(Uri::parse(&through).unwrap());
    (stepping, dialer)
}

fn open(queue: &str, kind: &str, dialer: &Dialer) -> Session {
    let text = Scenario::new("removal")
        .queues(Queue::new(queue).of_type(kind))
        .publishers(Publishers::new(queue).messages(50).confirm_window(10));
    let scenario = scenario::parse(&text.to_string(), "removal", &[]).unwrap();
    Session::open(&scenario, dialer, BrokerOwner::SomebodyElse(&Journal::default())).unwrap()
}

fn end(mut session: Session, end: End, dialer: &Dialer, arm: impl Fn()) {
    if end == End::ClosedFull {
        session.run(&mut |_| {}, &AtomicBool::new(false)).unwrap();
    }
    if end != End::Killed {
        arm();
        session.close().unwrap();
        return;
    }
    let declared = session.declared().clone();
    drop(session);
    // The broker may not have noticed the end of the connection yet.
    loop {
        arm();
        let excluded = ForeignBindings::Excluded;
        match remove_leftovers(dialer, &declared, Messages::Keep, excluded).unwrap() {
            Leftovers::Settled(_) => return,
            Leftovers::Alive => thread::sleep(Duration::from_millis(5)),
            other => panic!("{other:?}"),
        }
    }
}

/// Removes `times` queues. Each time the application publishes before a different frame, `stride` frames later than
/// before.
#[track_caller]
fn check(kind: &str, ends: &[End], (times, stride): (usize, usize)) -> Tally {
    let (stepping, dialer) = connect();
    let (mut tally, mut frame, mut steps) = (Tally::default(), 0, 0);
    for round in 0..times {
        let how = ends[round % ends.len()];
        // Tests that run at the same time share the broker.
        let queue = format!("removal.{kind}.{:?}.{round}", ends[0]);
        let session = open(&queue, kind, &dialer);
        end(session, how, &dialer, || stepping.publish_before(frame, &queue));
        let (has_published, was_reached) = stepping.outcome();
        let left = stepping.application(|application| application.messages(&queue));
        tally.published += u32::from(has_published);
        // The broker counts messages in streams every five seconds; a stream that still exists has all of them.
        let is_lost = left.is_none_or(|left| left == 0 && kind != "stream");
        tally.lost += u32::from(has_published && is_lost);
        (tally.removed, tally.kept) = match left {
            Some(_) => (tally.removed, tally.kept + 1),
            None => (tally.removed + 1, tally.kept),
        };
        stepping.application(|application| application.delete(&queue));
        if round % ends.len() == ends.len() - 1 {
            steps = steps.max(frame);
            frame = if was_reached { frame + stride } else { 0 };
        }
    }
    assert_eq!(tally.lost, 0, "{kind}: {tally:?}");
    assert!(tally.published > 0 && steps > 10, "{kind}: {steps} steps, {tally:?}");
    tally
}

#[test]
fn no_confirmed_message_is_lost_with_a_classic_queue() {
    let tally = check("classic", &[End::Closed, End::Killed], (120, 2));
    assert!(tally.removed > 0, "it is removed where no message came: {tally:?}");
}

#[test]
fn a_message_among_the_messages_of_a_run_stays() {
    // Reading the messages alone takes 256 frames.
    let tally = check("classic", &[End::ClosedFull], (80, 5));
    assert!(tally.removed > 0, "messages of the run itself keep no queue: {tally:?}");
}

#[test]
fn quorum_queues_and_streams_stay_until_a_person_asks() {
    for kind in ["quorum", "stream"] {
        let tally = check(kind, &[End::Closed, End::Killed], (30, 3));
        assert_eq!(tally.removed, 0, "{kind}: {tally:?}");
    }
}

#[test]
#[ignore = "some minutes: make test-faults"]
fn a_thousand_removals_of_each_type_lose_no_confirmed_message() {
    for kind in ["classic", "quorum", "stream"] {
        check(kind, &[End::Closed, End::Killed], (1000, 1));
    }
    check("classic", &[End::ClosedFull], (1000, 1));
}
