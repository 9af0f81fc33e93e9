//! The thread that generates the load: one part of a run after another.

use std::sync::atomic::AtomicBool;

use rabbitscope_amqp::Uri;
use rabbitscope_load::{BodyFiles, run_part};
use rabbitscope_runs::scenario;
use rabbitscope_topology::Dialer;

use super::{confinement::confine, host::Host, mailbox::Mailbox, options::WorkerOptions};
use crate::protocol::{Assignment, WorkerState};

/// Runs parts from the mailbox until the worker ends.
pub(super) fn serve_parts(options: &WorkerOptions, mailbox: &Mailbox) {
    while let Some((assignment, cancel)) = mailbox.next() {
        let run = assignment.run.clone();
        let mut host = Host { mailbox, run: &run, late_nanos: 0, updates: 0 };
        let error = load(options, &assignment, &mut host, &cancel).err();
        let (late_nanos, updates) = (host.late_nanos, host.updates);
        mailbox.set_state(WorkerState::Finished { run, error, late_nanos, updates });
    }
}

/// Runs one part. The error is a sentence for the user at the controller.
fn load(
    options: &WorkerOptions,
    assignment: &Assignment,
    host: &mut Host<'_>,
    cancel: &AtomicBool,
) -> Result<(), String> {
    let parsed = scenario::parse(&assignment.scenario, "the controller's scenario", &[]);
    let mut scenario = parsed.map_err(|error| error.to_string())?;
    let uris = match &options.broker {
        Some(own) => std::slice::from_ref(&own.uri),
        None => &assignment.uris,
    };
    let planned = scenario.broker.spec.clone();
    if let Some(note) = confine(&mut scenario, options, uris)? {
        host.mailbox.note(format!("run {}: {note}", assignment.run));
    }
    let share = assignment.share();
    scenario.broker.connecting.parallel =
        scenario.broker.connecting.parallel.div_ceil(share.of.max(1));
    let parsed: Result<Vec<_>, _> = uris.iter().map(|uri| Uri::parse(uri)).collect();
    let parsed = parsed.map_err(|error| error.to_string())?;
    let dialer = Dialer::new(parsed, &scenario.broker.connecting, scenario.seed.number())
        .map_err(|error| error.to_string())?
        .for_broker(&planned);
    let files = BodyFiles::below(options.files.as_ref());
    run_part(&scenario, &assignment.token, share, &files, &dialer, host, cancel)
        .map_err(|error| error.to_string())
}
