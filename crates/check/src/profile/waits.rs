//! Time off the CPU by Erlang process, from a profile.

use std::{cmp::Reverse, collections::HashMap};

use rabbitscope_analysis::WaitState;
use rabbitscope_diagnosis::{Cpu, ProcessWaits, WaitedIn, Waits};
use rabbitscope_profiles::{FrameKind, Identity, Profile, Sample, ThreadKind};

use super::{
    activity::Activities,
    by_process::{ProcessSamples, by_process},
    locks::lock_takers,
};

/// Number of functions of a process with a row.
const MAX_FUNCTIONS: usize = 10;

/// Returns the waits in a profile of time off the CPU. `cpu` is the CPU time of the same recording.
pub(crate) fn waits(profile: &Profile, cpu: Option<&Cpu>) -> Waits {
    let time = Time(profile.capture.duration_nanos);
    let activities = Activities::new(profile);
    let state = |sample: &Sample| WaitState::from_sample(profile, sample);
    let is_blocked = |sample: &&Sample| state(sample) == Some(WaitState::Blocked);
    let of = |is_counted: &dyn Fn(&Sample) -> bool| {
        let counted = profile.samples.iter().filter(|sample| is_counted(sample));
        time.share(counted.map(|sample| sample.weight).sum())
    };
    let takes_lock = |sample: &Sample| is_blocked(&sample) && activities.takes_lock(sample);
    let scheduler = ThreadKind::Scheduler.name();
    let is_runnable = |sample: &&Sample| state(sample) == Some(WaitState::Runnable);
    let blocked = by_process(profile.samples.iter().filter(is_blocked));
    let runnable = by_process(profile.samples.iter().filter(is_runnable));
    Waits {
        seconds: profile.capture.duration().as_secs_f64(),
        lost: profile.quality.lost,
        runnable_cores: of(&|sample| {
            state(sample) == Some(WaitState::Runnable) && activities.thread(sample) == scheduler
        }),
        scheduler_cores: cpu.map_or(0.0, |cpu| {
            let threads = cpu.threads.iter().filter(|row| row.kind == scheduler);
            threads.map(|row| row.cores).sum()
        }),
        lock_cores: of(&takes_lock),
        lock_takers: lock_takers(profile, takes_lock, |weight| time.share(weight)),
        processes: process_waits(profile, &blocked, &runnable, time),
    }
}

/// Length of the recording in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Time(u64);

impl Time {
    fn share(self, nanos: u64) -> f64 {
        if self.0 == 0 { 0.0 } else { nanos as f64 / self.0 as f64 }
    }
}

/// Returns a row for each process that was blocked, or that had no CPU.
fn process_waits(
    profile: &Profile,
    blocked: &[ProcessSamples<'_>],
    runnable: &[ProcessSamples<'_>],
    time: Time,
) -> Vec<ProcessWaits> {
    let mut rows: Vec<_> =
        blocked.iter().map(|process| blocked_process(profile, process, time)).collect();
    for process in runnable {
        let runnable_share = time.share(process.weight);
        if let Some(row) = rows.iter_mut().find(|row| row.pid == process.pid) {
            row.runnable_share = runnable_share;
        } else {
            let Identity { role, name, .. } = process.identity(profile);
            let pid = process.pid.to_owned();
            rows.push(ProcessWaits { pid, role, name, runnable_share, ..ProcessWaits::default() });
        }
    }
    rows
}

fn blocked_process(profile: &Profile, process: &ProcessSamples<'_>, time: Time) -> ProcessWaits {
    let identity = process.identity(profile);
    let mut functions: HashMap<&str, (u64, u64)> = HashMap::new();
    for sample in &process.samples {
        let (weight, count) = functions.entry(function(profile, sample)).or_default();
        *weight += sample.weight;
        *count += sample.count;
    }
    let mut functions: Vec<_> = functions.into_iter().collect();
    functions.sort_by_key(|&(name, (weight, _))| (Reverse(weight), name));
    functions.truncate(MAX_FUNCTIONS);
    let row = |(name, (weight, waits)): (&str, (u64, u64))| WaitedIn {
        function: name.to_owned(),
        share: time.share(weight),
        waits,
    };
    ProcessWaits {
        pid: process.pid.to_owned(),
        role: identity.role,
        name: identity.name,
        blocked_share: time.share(process.weight),
        runnable_share: 0.0,
        waits: process.count,
        waited_in: functions.into_iter().map(row).collect(),
    }
}

/// Returns the innermost Erlang function or BIF, or without one the innermost function.
fn function<'a>(profile: &'a Profile, sample: &Sample) -> &'a str {
    let frames = || sample.stack.iter().rev().map(|entry| profile.frames.get(entry.frame));
    let erlang = frames().find(|frame| frame.kind.is_erlang_function());
    let found = erlang.or_else(|| frames().find(|frame| frame.kind != FrameKind::Thread));
    found.map_or("", |frame| frame.name.as_str())
}

#[cfg(test)]
mod tests {
    use rabbitscope_diagnosis::ThreadCpu;
    use rabbitscope_profiles::{Event, Identity, read_folded};

    use super::*;

    /// Milliseconds.
    const STACKS: &str = "\
dirty_io_scheduler;[blocked];ra_log_wal:loop_batched/3;prim_file:sync_nif/2;do_fsync_[k] 6000
dirty_io_scheduler;[blocked];ra_log_wal:loop_batched/3;prim_file:write_nif/2 500
scheduler;[blocked];ets:insert/2;ethr_mutex_lock;futex_wait_[k] 400
scheduler;[runnable];ra_log_wal:loop_batched/3 2000
dirty_io_scheduler;[runnable];ra_log_wal:loop_batched/3 70
scheduler;[idle];scheduler_wait;do_epoll_wait_[k] 9000
scheduler;[blocked];erts_port_task_execute 300";

    fn profile() -> Profile {
        let mut profile = read_folded(STACKS.as_bytes()).unwrap();
        profile.event = Event::OffCpu;
        profile.capture.duration_nanos = 10_000_000_000;
        let frames = profile.frames.clone();
        for sample in &mut profile.samples {
            sample.weight *= 1_000_000;
            sample.count = 2;
            let has =
                |name: &str| sample.stack.iter().any(|entry| frames.get(entry.frame).name == name);
            let pid = match () {
                () if has("ra_log_wal:loop_batched/3") => Some("<0.5.0>"),
                () if has("ets:insert/2") => Some("<0.6.0>"),
                () if has("erts_port_task_execute") => Some("<0.7.0>"),
                () => None,
            };
            sample.labels.process = pid.map(Into::into);
        }
        let wal = Identity {
            role: "ra_log".to_owned(),
            name: "ra_log_wal".to_owned(),
            ..Identity::default()
        };
        profile.identities.insert("<0.5.0>".to_owned(), wal);
        profile
    }

    #[track_caller]
    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
    }

    #[test]
    fn a_process_waits_where_a_dirty_scheduler_works_for_it() {
        let found = waits(&profile(), None);
        let [wal, table, port] = &found.processes[..] else { panic!("{found:?}") };
        assert_eq!(
            (wal.pid.as_str(), wal.role.as_str(), wal.name.as_str()),
            ("<0.5.0>", "ra_log", "ra_log_wal")
        );
        close(wal.blocked_share, 0.65);
        close(wal.runnable_share, 0.207);
        assert_eq!(wal.waits, 4);
        let functions: Vec<&str> = wal.waited_in.iter().map(|row| row.function.as_str()).collect();
        assert_eq!(functions, ["prim_file:sync_nif/2", "prim_file:write_nif/2"]);
        close(wal.waited_in[0].share, 0.6);
        assert_eq!(table.waited_in[0].function, "ets:insert/2");
        assert_eq!(port.waited_in[0].function, "erts_port_task_execute");
    }

    #[test]
    fn schedulers_that_wait_for_a_cpu() {
        let threads = vec![
            ThreadCpu { kind: "scheduler".to_owned(), cores: 1.5 },
            ThreadCpu { kind: "poll".to_owned(), cores: 0.1 },
        ];
        let cpu = Cpu { threads, ..Cpu::default() };
        let found = waits(&profile(), Some(&cpu));
        close(found.seconds, 10.0);
        close(found.runnable_cores, 0.2);
        close(found.scheduler_cores, 1.5);
        close(found.lock_cores, 0.04);
    }
}
