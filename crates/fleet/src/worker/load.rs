//! The thread that puts the load on: one part of a run after another.

use std::sync::atomic::AtomicBool;

use rabbitscope_amqp::Uri;
use rabbitscope_load::{Dialer, run_part};
use rabbitscope_runs::scenario::{self, Auth, Body, BrokerSpec, Scenario};

use super::{host::Host, mailbox::Mailbox, options::WorkerOptions};
use crate::protocol::{Assignment, WorkerState};

/// Takes parts of runs from the mailbox until there will be no more.
pub(super) fn serve_parts(options: &WorkerOptions, mailbox: &Mailbox) {
    while let Some((assignment, cancel)) = mailbox.next() {
        let run = assignment.run.clone();
        let mut host = Host { mailbox, run: &run, late_nanos: 0, updates: 0 };
        let error = load(options, &assignment, &mut host, &cancel).err();
        let (late_nanos, updates) = (host.late_nanos, host.updates);
        mailbox.set_state(WorkerState::Finished { run, error, late_nanos, updates });
    }
}

/// The error is a sentence for the person at the controller.
fn load(
    options: &WorkerOptions,
    assignment: &Assignment,
    host: &mut Host<'_>,
    cancel: &AtomicBool,
) -> Result<(), String> {
    let parsed = scenario::parse(&assignment.scenario, "the controller's scenario", &[]);
    let mut scenario = parsed.map_err(|error| error.to_string())?;
    let is_own = !options.broker.is_empty();
    let uris = if is_own { &options.broker } else { &assignment.uris };
    if !is_own && let Some(what) = named_files(&scenario) {
        return Err(format!(
            "the scenario sends files of this machine ({what}) to a broker that the controller names: give this \
             worker the broker with --uri or RABBITSCOPE_URI to allow that"
        ));
    }
    let there = BrokerSpec::Existing { uris: uris.clone() };
    let planned = std::mem::replace(&mut scenario.broker, there);
    let share = assignment.share();
    scenario.connecting.parallel = scenario.connecting.parallel.div_ceil(share.of.max(1));
    let parsed: Result<Vec<_>, _> = uris.iter().map(|uri| Uri::parse(uri)).collect();
    let parsed = parsed.map_err(|error| error.to_string())?;
    let dialer = Dialer::new(parsed, &scenario.connecting, scenario.seed)
        .map_err(|error| error.to_string())?
        .for_broker(&planned);
    run_part(&scenario, &assignment.token, share, &dialer, host, cancel)
        .map_err(|error| error.to_string())
}

/// What of this machine a scenario would send to its broker.
fn named_files(scenario: &Scenario) -> Option<&'static str> {
    let has_bodies = scenario.publishers.iter().any(|it| matches!(it.body, Body::Files(_)));
    let has_token = matches!(scenario.connecting.auth, Auth::Token { .. });
    match (has_bodies, has_token) {
        (true, _) => Some("`body-files`"),
        (_, true) => Some("`token-file`"),
        _ => None,
    }
}
