//! Looks at the node: checks with pauses between them.

use std::{
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc::Sender,
    },
    thread,
    time::Instant,
};

use rabbitscope_check::{CheckOptions, NodeSession};
use rabbitscope_erlang::ConnectOptions;
use rabbitscope_web::NodeLook;

use super::{
    pace::{LOOK, PAUSE, STEP},
    report::{Look, Report, now},
};

/// Looks at the node until `stop` is set.
pub(super) fn look(subject: &CheckOptions, reports: &Sender<Report>, stop: &AtomicBool) {
    // Without a thread, each look has a connection of its own.
    let session = |connect: &ConnectOptions| NodeSession::start(connect.clone()).ok();
    let session = subject.connect.as_ref().ok().and_then(session);
    let options = CheckOptions { duration: LOOK, session, ..subject.clone() };
    while !stop.load(Ordering::Relaxed) {
        let from = now();
        let case = rabbitscope_check::read(&options, stop, &mut |_| ());
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let look = Look { result: NodeLook::from_case(case), from, to: now() };
        let _ = reports.send(Report::Look(Box::new(look)));
        let until = Instant::now() + PAUSE;
        while !stop.load(Ordering::Relaxed) && Instant::now() < until {
            thread::sleep(STEP);
        }
    }
}
