//! CPU time of threads, Erlang processes and functions, from a profile.

use std::{cmp::Reverse, collections::HashMap};

use rabbitscope_analysis::function_table;
use rabbitscope_diagnosis::{Cpu, FunctionCpu, ProcessCpu, ThreadCpu};
use rabbitscope_profiles::{Capture, FrameId, FrameKind, Mode, Profile, Sample};

use super::{
    activity::Activities,
    by_process::{ProcessSamples, by_process},
    locks::lock_takers,
    owners::owners,
};

/// Number of functions of the node with a row.
const MAX_FUNCTIONS: usize = 50;

/// Number of functions of a process with a row. The outermost dozen have nearly all of its time.
const MAX_FUNCTIONS_OF_PROCESS: usize = 60;

/// Share of a process's time below which its function has no row.
const MIN_SHARE: f64 = 0.01;

/// Returns the CPU time in a profile of ticks.
pub(crate) fn cpu(profile: &Profile) -> Cpu {
    let cores = Cores::from_capture(&profile.capture);
    let activities = Activities::new(profile);
    let of = |is_counted: &dyn Fn(&Sample) -> bool| {
        let counted = profile.samples.iter().filter(|sample| is_counted(sample));
        cores.of(counted.map(|sample| sample.weight).sum())
    };
    let takes_lock =
        |sample: &Sample| activities.takes_lock(sample) && !activities.is_busy_wait(sample);
    let processes = by_process(profile.samples.iter());
    Cpu {
        samples: profile.samples.iter().map(|sample| sample.count).sum(),
        lost: profile.quality.lost,
        seconds: profile.capture.duration().as_secs_f64(),
        cores: cores.of(profile.total()),
        busy_wait_cores: of(&|sample| activities.is_busy_wait(sample)),
        kernel_cores: of(&|sample| sample.labels.mode == Mode::Kernel),
        lock_cores: of(&takes_lock),
        lock_takers: lock_takers(profile, takes_lock, |weight| cores.of(weight)),
        collection_cores: of(&|sample| activities.collects(sample)),
        threads: threads(profile, &activities, cores),
        processes: processes.iter().map(|process| process_cpu(profile, process, cores)).collect(),
        owners: owners(profile, |weight| cores.of(weight)),
        functions: functions(profile, cores),
    }
}

/// Cores that a tick stands for.
#[derive(Clone, Copy, Debug)]
struct Cores(f64);

impl Cores {
    fn from_capture(capture: &Capture) -> Self {
        let is_known = capture.duration_nanos > 0;
        let each = || capture.period_nanos as f64 / capture.duration_nanos as f64;
        Self(if is_known { each() } else { 0.0 })
    }

    fn of(self, ticks: u64) -> f64 {
        self.0 * ticks as f64
    }
}

fn threads(profile: &Profile, activities: &Activities<'_>, cores: Cores) -> Vec<ThreadCpu> {
    let mut found: HashMap<&str, u64> = HashMap::new();
    for sample in &profile.samples {
        *found.entry(activities.thread(sample)).or_default() += sample.weight;
    }
    let mut kinds: Vec<_> = found.into_iter().collect();
    kinds.sort_by_key(|&(kind, weight)| (Reverse(weight), kind));
    let row =
        |(kind, weight): (&str, u64)| ThreadCpu { kind: kind.to_owned(), cores: cores.of(weight) };
    kinds.into_iter().map(row).collect()
}

fn process_cpu(profile: &Profile, process: &ProcessSamples<'_>, cores: Cores) -> ProcessCpu {
    let identity = process.identity(profile);
    ProcessCpu {
        pid: process.pid.to_owned(),
        is_of_queue: identity.is_queue(),
        role: identity.role,
        name: identity.name,
        vhost: identity.vhost,
        cores: cores.of(process.weight),
        samples: process.count,
        functions: functions_of(profile, process, cores),
    }
}

/// Returns a process's functions by total time. A stack counts once for a function, however often it contains it.
fn functions_of(profile: &Profile, process: &ProcessSamples<'_>, cores: Cores) -> Vec<FunctionCpu> {
    let mut totals: HashMap<FrameId, (u64, usize)> = HashMap::new();
    for (number, sample) in process.samples.iter().enumerate() {
        for entry in &sample.stack {
            let (total, last) = totals.entry(entry.frame).or_insert((0, usize::MAX));
            if *last != number {
                (*total, *last) = (*total + sample.weight, number);
            }
        }
    }
    let is_large = |weight: u64| weight as f64 >= MIN_SHARE * process.weight as f64;
    let totals = totals.into_iter().map(|(frame, (weight, _))| (profile.frames.get(frame), weight));
    let mut rows: Vec<_> = totals
        .filter(|(frame, weight)| frame.kind != FrameKind::Thread && is_large(*weight))
        .map(|(frame, weight)| (frame.name.as_str(), weight))
        .collect();
    rows.sort_by_key(|&(name, weight)| (Reverse(weight), name));
    rows.truncate(MAX_FUNCTIONS_OF_PROCESS);
    let row = |(name, weight): (&str, u64)| FunctionCpu {
        name: name.to_owned(),
        cores: cores.of(weight),
    };
    rows.into_iter().map(row).collect()
}

/// Returns the node's functions by self time.
fn functions(profile: &Profile, cores: Cores) -> Vec<FunctionCpu> {
    let mut table = function_table(profile);
    table.retain(|row| row.kind != FrameKind::Thread && row.self_weight > 0);
    table.sort_by(|left, right| {
        right.self_weight.cmp(&left.self_weight).then_with(|| left.name.cmp(&right.name))
    });
    table.truncate(MAX_FUNCTIONS);
    let rows = table.into_iter();
    rows.map(|row| FunctionCpu { name: row.name, cores: cores.of(row.self_weight) }).collect()
}

#[cfg(test)]
mod tests {
    use rabbitscope_profiles::{Identity, read_folded};

    use super::*;

    const STACKS: &str = "\
scheduler;rabbit_amqqueue_process:init/1;gen_server2:loop/1;lists:map/2;erts_garbage_collect_nobump 100
scheduler;rabbit_amqqueue_process:init/1;gen_server2:loop/1;gen_server2:loop/1;ets:insert/2;ethr_mutex_lock;futex_wait_[k] 50
scheduler;rabbit_channel:init/1;prim_inet:send/2;tcp_sendmsg_[k] 50
scheduler;sched_thread_func;erts_schedule;scheduler_wait;ethr_event_twait 40
scheduler;sched_thread_func;erts_schedule;scheduler_wait;do_epoll_wait_[k] 20
scheduler;sched_thread_func;erts_schedule;scheduler_wait;handle_aux_work 10
scheduler;sched_thread_func;erts_schedule;erts_port_task_execute 15
dirty_io_scheduler;sched_dirty_io_thread_func;erts_schedule;try_steal_task_from_victim.part.0;ethr_mutex_lock 5
poll;poll_thread;erts_poll_wait 10";

    /// Ten seconds at 100 samples a second.
    fn profile() -> Profile {
        let mut profile = read_folded(STACKS.as_bytes()).unwrap();
        profile.capture.duration_nanos = 10_000_000_000;
        profile.capture.period_nanos = 10_000_000;
        profile.quality.lost = 3;
        let frames = profile.frames.clone();
        for sample in &mut profile.samples {
            let function = sample.stack.get(1).map(|entry| frames.get(entry.frame).name.clone());
            sample.labels.process = match function.unwrap_or_default().as_str() {
                "rabbit_amqqueue_process:init/1" => Some("<0.7.0>".into()),
                "rabbit_channel:init/1" => Some("<0.8.0>".into()),
                _ => None,
            };
        }
        let queue = Identity {
            role: "queue".to_owned(),
            name: "q".to_owned(),
            vhost: "/".to_owned(),
            ..Identity::default()
        };
        profile.identities.insert("<0.7.0>".to_owned(), queue);
        profile
    }

    #[track_caller]
    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
    }

    #[test]
    fn time_of_the_node() {
        let found = cpu(&profile());
        assert_eq!((found.samples, found.lost), (300, 3));
        close(found.seconds, 10.0);
        close(found.cores, 0.3);
        close(found.kernel_cores, 0.12);
        close(found.collection_cores, 0.1);
        let threads: Vec<&str> = found.threads.iter().map(|row| row.kind.as_str()).collect();
        assert_eq!(threads, ["scheduler", "poll", "dirty_io_scheduler"]);
        close(found.threads[0].cores, 0.285);
    }

    #[test]
    fn a_scheduler_that_looks_for_work_is_no_work() {
        let found = cpu(&profile());
        close(found.busy_wait_cores, 0.065);
        // The lock of a run queue that is searched for work is not counted.
        close(found.lock_cores, 0.05);
        // A process that calls such a function works.
        let mut profile = profile();
        for sample in &mut profile.samples {
            sample.labels.process = Some("<0.1.0>".into());
        }
        close(cpu(&profile).busy_wait_cores, 0.0);
    }

    #[test]
    fn time_of_processes_and_their_functions() {
        let found = cpu(&profile());
        let [queue, channel] = &found.processes[..] else { panic!("{found:?}") };
        assert_eq!(
            (queue.pid.as_str(), queue.role.as_str(), queue.name.as_str()),
            ("<0.7.0>", "queue", "q")
        );
        assert_eq!((queue.vhost.as_str(), queue.samples), ("/", 150));
        close(queue.cores, 0.15);
        assert_eq!((channel.role.as_str(), channel.name.as_str()), ("", ""));
        let functions: Vec<(&str, f64)> =
            queue.functions.iter().map(|row| (row.name.as_str(), row.cores)).collect();
        assert_eq!(functions[0].0, "gen_server2:loop/1", "the same total, the first by name");
        close(functions[0].1, 0.15);
        assert_eq!(functions[2].0, "erts_garbage_collect_nobump");
        assert!(functions.iter().all(|row| row.0 != "scheduler"));
    }

    #[test]
    fn functions_of_the_node_by_self_time() {
        let found = cpu(&profile());
        let names: Vec<&str> = found.functions.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(names[..2], ["erts_garbage_collect_nobump", "futex_wait"]);
        close(found.functions[0].cores, 0.1);
        close(found.functions.iter().map(|row| row.cores).sum(), 0.3);
    }

    #[test]
    fn a_recording_of_no_length_has_no_cores() {
        let mut profile = profile();
        profile.capture.duration_nanos = 0;
        close(cpu(&profile).cores, 0.0);
    }
}
