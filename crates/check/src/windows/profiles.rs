//! The profiles of a time as a case.

use rabbitscope_diagnosis::{Case, Source, Subject, Unread};
use rabbitscope_profiles::{Event, Profile};

use crate::profile::{cpu, waits};

/// Returns a case that has CPU samples and times off the CPU as far as `profiles` have them, and nothing else.
pub fn case_of_profiles<'a>(
    subject: Subject,
    profiles: impl IntoIterator<Item = &'a Profile>,
) -> Case {
    let (mut sampled, mut off_cpu) = (None, None);
    for profile in profiles {
        match profile.event {
            Event::Cpu => sampled = Some(cpu(profile)),
            Event::OffCpu => off_cpu = Some(profile),
            _ => {}
        }
    }
    let off_cpu = off_cpu.map(|profile| waits(profile, sampled.as_ref()));
    let node = unread(Source::Node);
    Case {
        broker: Err(node.clone()),
        vm: Err(node.clone()),
        processes: Err(node.clone()),
        queues: Err(node.clone()),
        clients: Err(node.clone()),
        flow: Err(node),
        cpu: sampled.ok_or_else(|| unread(Source::CpuProfile)),
        waits: off_cpu.ok_or_else(|| unread(Source::OffCpuProfile)),
        packets: Err(unread(Source::Packets)),
        host: Err(unread(Source::Host)),
        ..Case::unread(subject)
    }
}

fn unread(source: Source) -> Unread {
    let (reason, remedy) = match source {
        Source::CpuProfile => {
            ("there is no such window", "`rabbitscope heatmap` shows all windows")
        }
        Source::OffCpuProfile => {
            ("the windows have no times off the CPU", "record them with `watch --off-cpu`")
        }
        _ => (
            "windows of `watch` do not have it",
            "run `rabbitscope check` on the node at that time",
        ),
    };
    Unread { source, reason: reason.to_owned(), remedy: remedy.to_owned() }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rabbitscope_diagnosis::{CheckReport, LimitKind};
    use rabbitscope_profiles::read_folded;

    use super::*;

    /// Ten seconds at 19 samples a second, of one process that takes this share of a core.
    fn window(share: f64) -> Profile {
        let samples = (190.0 * share).round();
        let stack = "scheduler;rabbit_amqqueue_process:init/1;gen_server2:loop/1";
        let mut profile = read_folded(format!("{stack} {samples}").as_bytes()).unwrap();
        profile.capture.duration_nanos = 10_000_000_000;
        profile.capture.period_nanos = 1_000_000_000 / 19;
        for sample in &mut profile.samples {
            sample.labels.process = Some("<0.7.0>".into());
        }
        profile
    }

    fn limit(profiles: &[Profile]) -> LimitKind {
        let subject = Subject { duration: Duration::from_secs(10), ..Subject::default() };
        CheckReport::from_case(&case_of_profiles(subject, profiles)).limit.kind
    }

    #[test]
    fn a_saturated_process_is_the_limit_and_anything_less_is_unknown() {
        assert_eq!(limit(&[window(0.97)]), LimitKind::Process);
        assert_eq!(limit(&[window(0.4)]), LimitKind::Unknown);
        assert_eq!(limit(&[]), LimitKind::Unknown);
    }
}
