//! Churn of connections: a pool of threads that open and close them.
//!
//! Opening a connection waits for the broker, and load threads never wait. Churn therefore has its own threads. The
//! aggregator treats each group of them as one more worker.

use std::{
    sync::{Mutex, atomic::Ordering},
    thread,
    time::Duration,
};

use rabbitscope_amqp::blocking::{Client, ClientError};
use rabbitscope_measurements::{IntervalMeasurements, IntervalReport, PublisherCounts, Report};
use rabbitscope_runs::scenario::{ChurnGroup, ChurnKind, Scenario};
use rabbitscope_timing::{Nanos, RunInstant, thread_cpu_time};
use rabbitscope_topology::{Dialer, Stream};

use crate::{
    pacing::{ChurnCycle, DueQueue, RETRY_DELAY},
    share::Share,
    worker::WorkerContext,
};

/// Threads of a group, each of which opens one connection at a time. Chosen: they wait for the broker nearly all the
/// time.
const PARALLEL: usize = 32;

/// Interval at which a waiting thread checks for the end of the load.
const END_POLL_INTERVAL: Duration = Duration::from_millis(20);

/// One group of connection churn. The aggregator treats it as one more worker.
pub(crate) struct ConnectionChurn<'a> {
    group: &'a ChurnGroup,
    /// Index among the churn groups of the scenario.
    number: usize,
    /// Index among the workers of the run.
    worker: usize,
    dialer: &'a Dialer,
    measured: Mutex<IntervalMeasurements>,
    /// The slots of this process.
    members: Vec<u32>,
}

struct Slot {
    member: u32,
    cycle: ChurnCycle,
    client: Option<Client<Stream>>,
}

impl<'a> ConnectionChurn<'a> {
    /// Returns every group of the scenario that churns connections, with its slots in `share`. Their indices among the
    /// workers start with `first_worker`.
    pub(crate) fn all(
        scenario: &'a Scenario,
        dialer: &'a Dialer,
        (first_worker, share): (usize, Share),
    ) -> Vec<Self> {
        let groups = scenario.churn.iter().enumerate();
        let of_connections = groups.filter(|(_, group)| group.kind == ChurnKind::Connections);
        of_connections
            .zip(first_worker..)
            .map(|((number, group), worker)| {
                let measured = Mutex::new(IntervalMeasurements::default());
                let members = share.of_members(group.concurrency).collect();
                Self { group, number, worker, dialer, measured, members }
            })
            .collect()
    }

    /// Returns the longest time that one of `processes` can take after the end of the load. A thread completes its
    /// current step, and then closes one connection after another.
    pub(crate) fn longest_end(scenario: &Scenario, dialer: &Dialer, processes: usize) -> Duration {
        let of_connections =
            scenario.churn.iter().filter(|group| group.kind == ChurnKind::Connections);
        let slots = of_connections.map(|group| group.concurrency as usize).max();
        let Some(slots) = slots else { return Duration::ZERO };
        let of_thread = slots.div_ceil(processes.max(1)).div_ceil(PARALLEL);
        let of_thread = u32::try_from(of_thread).unwrap_or(u32::MAX);
        dialer.longest_dial().saturating_add(dialer.longest_close().saturating_mul(of_thread))
    }

    /// Runs until the end of the load and closes open connections. The last report is [`Report::Done`].
    pub(crate) fn run(&self, context: &WorkerContext<'_>) {
        let threads = self.members.len().min(PARALLEL);
        thread::scope(|scope| {
            for thread in 0..threads {
                scope.spawn(move || self.serve(thread, threads, context));
            }
            let (second, start) = self.report_seconds(context);
            self.report(second, start, false, context);
        });
        let now = context.now();
        self.report(0, now, true, context);
        context.reports.send(Report::Done).ok();
    }

    /// Reports each second that ends before the load does. Returns the number and the beginning of the last second.
    fn report_seconds(&self, context: &WorkerContext<'_>) -> (u32, RunInstant) {
        let (mut second, mut start) = (0_u32, RunInstant::START);
        loop {
            let now = context.now();
            let boundary = RunInstant::of_second(second.saturating_add(1));
            if now >= boundary && boundary < context.end {
                self.report(second, start, false, context);
                second = now.second();
                start = now;
            }
            if is_over(context) {
                return (second, start);
            }
            let left = boundary.min(context.end).since(now);
            thread::sleep(END_POLL_INTERVAL.min(left.into()));
        }
    }

    fn report(&self, second: u32, start: RunInstant, draining: bool, context: &WorkerContext<'_>) {
        let measured = std::mem::take(&mut *self.measured());
        let end = context.now();
        let part = IntervalReport {
            worker: self.worker,
            second,
            start,
            end,
            draining,
            is_last: draining,
            measured,
            publisher_counts: PublisherCounts::default(),
        };
        context.reports.send(Report::Interval(Box::new(part))).ok();
    }

    fn measured(&self) -> std::sync::MutexGuard<'_, IntervalMeasurements> {
        self.measured.lock().expect("counting does not panic")
    }

    /// Serves every `threads`-th slot, starting with `thread`.
    fn serve(&self, thread: usize, threads: usize, context: &WorkerContext<'_>) {
        let members = self.members.iter().skip(thread).step_by(threads);
        let mut slots: Vec<_> = members
            .map(|&member| Slot {
                member,
                cycle: ChurnCycle::new(self.group, member),
                client: None,
            })
            .collect();
        let mut due_queue = DueQueue::new(slots.len());
        for (index, slot) in slots.iter().enumerate() {
            if let Some(due) = slot.cycle.due() {
                due_queue.put(index, due);
            }
        }
        let mut cpu = thread_cpu_time();
        while !is_over(context) {
            let now = context.now();
            let Some(index) = due_queue.take(now) else {
                let left = due_queue.first().map_or(Nanos::MAX, |due| due.since(now));
                thread::sleep(END_POLL_INTERVAL.min(left.into()));
                continue;
            };
            if let Some(due) = self.step(&mut slots[index], context) {
                due_queue.put(index, due);
            }
            let (before, after) = (cpu, thread_cpu_time());
            cpu = after;
            self.measured().counts.client_cpu_nanos += (after - before).get();
        }
        for client in slots.iter_mut().filter_map(|slot| slot.client.take()) {
            self.close(client, context);
        }
    }

    /// Opens or closes the connection of a slot. Returns the due time of the next step.
    fn step(&self, slot: &mut Slot, context: &WorkerContext<'_>) -> Option<RunInstant> {
        if let Some(client) = slot.client.take() {
            self.close(client, context);
            end_cycle(slot, RunInstant::START, context);
            return slot.cycle.due();
        }
        let since = context.now();
        let name = format!("rabbitscope {} {}", self.group.name, slot.member);
        match self.dialer.dial_idle(&name, slot.member as usize) {
            Ok((client, _)) => {
                let now = context.now();
                let mut measured = self.measured();
                measured.counts.churn_opened += 1;
                measured.churn.opened(self.number, now.since(since));
                slot.client = Some(client);
                Some(now + self.group.hold.into())
            }
            Err(refused) => {
                let mut measured = self.measured();
                measured.churn_failed(&refused.error.to_string());
                measured.responsiveness.unreached += u64::from(is_unreached(&refused.error));
                drop(measured);
                end_cycle(slot, context.now() + RETRY_DELAY, context);
                slot.cycle.due()
            }
        }
    }

    fn close(&self, client: Client<Stream>, context: &WorkerContext<'_>) {
        let since = context.now();
        let closed = client.close();
        let took = context.now().since(since);
        let mut measured = self.measured();
        match closed {
            Ok(()) => {
                measured.counts.churn_closed += 1;
                measured.churn.closed(self.number, took);
            }
            Err(error) => measured.churn_failed(&error.to_string()),
        }
    }
}

fn end_cycle(slot: &mut Slot, not_before: RunInstant, context: &WorkerContext<'_>) {
    if slot.cycle.end(not_before) {
        context.shared.churners_done.fetch_add(1, Ordering::Relaxed);
    }
}

/// Returns whether no broker answered. For other errors the broker gave a reason.
fn is_unreached(error: &ClientError) -> bool {
    matches!(
        error,
        ClientError::Connect { .. }
            | ClientError::Io(_)
            | ClientError::Eof
            | ClientError::TimedOut { .. }
    )
}

fn is_over(context: &WorkerContext<'_>) -> bool {
    context.now() >= context.end
        || context.shared.ending.load(Ordering::Relaxed)
        || context.shared.abort.load(Ordering::Relaxed)
}
