//! Causes of time off the CPU. A scheduler without work sleeps, and a node has dozens of threads that do nothing else.
//! So a profile of waiting is mostly idle time; shares refer to the blocked time, and idle time stands apart.

use std::borrow::Cow;

use rabbitscope_profiles::{Event, Profile, Sample, StackOutcome, StackQuality};
use serde::Serialize;

/// The reason why a thread was off the CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WaitState {
    /// It had work and waited for a disk, a lock or a driver.
    Blocked,
    /// It was ready and waited for a CPU.
    Runnable,
    /// It had nothing to do.
    Idle,
}

impl WaitState {
    /// All states in display order.
    pub const ALL: [Self; 3] = [Self::Blocked, Self::Runnable, Self::Idle];

    /// The frame that represents the state. It stands below the kind of thread, and with several nodes that stands
    /// below the node.
    pub fn frame_name(self) -> &'static str {
        match self {
            Self::Blocked => "[blocked]",
            Self::Runnable => "[runnable]",
            Self::Idle => "[idle]",
        }
    }

    /// Returns the state of a sample of time off the CPU; absent without a reason.
    pub fn from_sample(profile: &Profile, sample: &Sample) -> Option<Self> {
        let names = sample.stack.iter().skip(1).take(2);
        let mut names = names.map(|entry| profile.frames.get(entry.frame).name.as_str());
        names.find_map(|name| Self::ALL.into_iter().find(|state| state.frame_name() == name))
    }
}

/// Time off the CPU by state, summed over all threads, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct WaitTimes {
    /// Blocked time; see [`WaitState::Blocked`].
    pub blocked_nanos: u64,
    /// Runnable time; see [`WaitState::Runnable`].
    pub runnable_nanos: u64,
    /// Idle time; see [`WaitState::Idle`].
    pub idle_nanos: u64,
}

impl WaitTimes {
    /// Returns the times of an off-CPU profile with reasons; absent for any other profile.
    pub fn from_profile(profile: &Profile) -> Option<Self> {
        if profile.event != Event::OffCpu {
            return None;
        }
        let mut times = None;
        for sample in &profile.samples {
            let Some(state) = WaitState::from_sample(profile, sample) else { continue };
            let times: &mut Self = times.get_or_insert_default();
            *match state {
                WaitState::Blocked => &mut times.blocked_nanos,
                WaitState::Runnable => &mut times.runnable_nanos,
                WaitState::Idle => &mut times.idle_nanos,
            } += sample.weight;
        }
        times
    }
}

/// Returns the part that shares refer to: the blocked time of an off-CPU profile with reasons, otherwise everything.
pub fn shown_part(profile: &Profile) -> Cow<'_, Profile> {
    if WaitTimes::from_profile(profile).is_none() {
        return Cow::Borrowed(profile);
    }
    let mut blocked = profile.clone();
    blocked
        .samples
        .retain(|sample| WaitState::from_sample(profile, sample) == Some(WaitState::Blocked));
    blocked.quality = quality_of_samples(&blocked);
    blocked.quality.lost = profile.quality.lost;
    // Lines are sums over all of the time.
    blocked.lines.clear();
    Cow::Owned(blocked)
}

/// Returns the quality of these samples' stacks. A single sample does not show cut C frames, and losses belong to a
/// recording.
pub fn quality_of_samples(profile: &Profile) -> StackQuality {
    let unnamed: Vec<bool> =
        profile.frames.iter().map(|(_, frame)| frame.is_unsymbolised()).collect();
    let erlang: Vec<bool> =
        profile.frames.iter().map(|(_, frame)| frame.kind.is_erlang_function()).collect();
    let mut quality = StackQuality::default();
    for sample in &profile.samples {
        let count = sample.count;
        match sample.labels.outcome {
            StackOutcome::Complete => quality.complete += count,
            StackOutcome::Truncated => quality.truncated += count,
            StackOutcome::Broken => quality.broken += count,
            StackOutcome::NoProcess => quality.no_process += count,
            StackOutcome::Unknown => continue,
        }
        let has = |frames: &[bool]| sample.stack.iter().any(|entry| frames[entry.frame.0 as usize]);
        if has(&unnamed) {
            quality.unsymbolised += count;
        }
        if sample.labels.outcome.is_on_process() && !has(&erlang) {
            quality.no_function += count;
        }
    }
    quality
}

#[cfg(test)]
mod tests {
    use rabbitscope_profiles::read_folded;

    use super::*;
    use crate::hottest;

    const STACKS: &str = "\
dirty_io_scheduler;[blocked];prim_file:sync_nif/2;do_fsync_[k] 56
scheduler;[blocked];ets:insert/2;futex_wait_[k] 39
scheduler;[runnable];m:f/1 20
scheduler;[idle];poll;beam.smp+0x12;do_epoll_wait_[k] 3000";

    fn profile() -> Profile {
        let mut profile = read_folded(STACKS.as_bytes()).unwrap();
        profile.event = Event::OffCpu;
        for sample in &mut profile.samples {
            sample.count = 2;
            sample.labels.outcome = StackOutcome::Complete;
        }
        profile
    }

    #[test]
    fn shares_are_of_the_blocked_time() {
        let profile = profile();
        let times = WaitTimes::from_profile(&profile).unwrap();
        let expected = WaitTimes { blocked_nanos: 95, runnable_nanos: 20, idle_nanos: 3000 };
        assert_eq!(times, expected);
        let blocked = shown_part(&profile);
        let first = &hottest(&blocked, 1)[0];
        assert_eq!(first.name, "prim_file:sync_nif/2");
        assert!((first.own_share(blocked.total()) - 56.0 / 95.0).abs() < 1e-12);
        assert_eq!((blocked.quality.complete, blocked.quality.unsymbolised), (4, 0));
        assert_eq!(quality_of_samples(&profile).unsymbolised, 2);
    }

    #[test]
    fn all_of_the_time_on_the_cpu_is_shown() {
        let profile = read_folded(STACKS.as_bytes()).unwrap();
        assert_eq!(WaitTimes::from_profile(&profile), None);
        assert_eq!(shown_part(&profile).total(), 3115);
    }
}
