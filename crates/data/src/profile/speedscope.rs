//! speedscope's JSON (`https://www.speedscope.app/file-format-schema.json`): frames once, a stack of
//! frame numbers and a weight for each sample. Written only.

use std::io::{self, Write};

use serde::Serialize;

use super::{Event, Frame, FrameKind, Profile, Sample, names::KERNEL_SUFFIX};

const SCHEMA: &str = "https://www.speedscope.app/file-format-schema.json";

/// Frames of one run of recursion that are written out. Deeper recursion says no more, and a file
/// would grow without limit.
pub(super) const MOST_REPEATS: u32 = 200;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct File<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    exporter: &'static str,
    name: String,
    active_profile_index: u32,
    shared: Shared<'a>,
    profiles: [Sampled; 1],
}

#[derive(Serialize)]
struct Shared<'a> {
    frames: Vec<SharedFrame<'a>>,
}

/// `file` makes speedscope colour frames of one kind alike.
#[derive(Serialize)]
struct SharedFrame<'a> {
    name: String,
    file: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Sampled {
    r#type: &'static str,
    name: &'static str,
    unit: &'static str,
    start_value: u64,
    end_value: u64,
    samples: Vec<Vec<u32>>,
    weights: Vec<u64>,
}

/// Writes `profile` for speedscope. CPU time is in nanoseconds when the period is known.
pub fn write_speedscope(profile: &Profile, out: impl Write) -> io::Result<()> {
    let factor = weight_factor(profile);
    let weights: Vec<u64> =
        profile.samples.iter().map(|sample| sample.weight.saturating_mul(factor)).collect();
    let end_value = weights.iter().fold(0_u64, |sum, weight| sum.saturating_add(*weight));
    let frames = profile
        .frames
        .iter()
        .map(|(_, frame)| SharedFrame { name: written_name(frame), file: file_of(frame) });
    let file = File {
        schema: SCHEMA,
        exporter: "rabbitscope",
        name: title(profile),
        active_profile_index: 0,
        shared: Shared { frames: frames.collect() },
        profiles: [Sampled {
            r#type: "sampled",
            name: profile.event.name(),
            unit: unit(profile, factor),
            start_value: 0,
            end_value,
            samples: profile.samples.iter().map(stack).collect(),
            weights,
        }],
    };
    serde_json::to_writer(out, &file).map_err(io::Error::from)
}

/// What a file of this profile is called.
pub(super) fn title(profile: &Profile) -> String {
    match profile.capture.node_pid {
        0 => format!("{} profile", profile.event.name()),
        pid => format!("{} profile of pid {pid}", profile.event.name()),
    }
}

/// Kernel functions keep their suffix, since these formats have no field for the kind.
pub(super) fn written_name(frame: &Frame) -> String {
    match frame.kind {
        FrameKind::Kernel => format!("{}{KERNEL_SUFFIX}", frame.name),
        _ => frame.name.clone(),
    }
}

/// The module of an Erlang function, the kind of any other.
fn file_of(frame: &Frame) -> &str {
    match frame.kind {
        FrameKind::Erlang | FrameKind::Bif => frame.name.split(':').next().unwrap_or("erlang"),
        FrameKind::Thread => "[thread]",
        FrameKind::VmFragment => "[vm]",
        FrameKind::Kernel => "[kernel]",
        _ => "[native]",
    }
}

fn weight_factor(profile: &Profile) -> u64 {
    match profile.event {
        Event::Cpu => profile.capture.period_nanos.max(1),
        _ => 1,
    }
}

fn unit(profile: &Profile, factor: u64) -> &'static str {
    match profile.event {
        Event::Cpu if factor > 1 => "nanoseconds",
        Event::OffCpu => "nanoseconds",
        Event::CallTime => "microseconds",
        Event::Mmap | Event::Munmap | Event::Brk => "bytes",
        _ => "none",
    }
}

fn stack(sample: &Sample) -> Vec<u32> {
    let entries = sample.stack.iter();
    entries
        .flat_map(|entry| {
            let times = entry.repeat.min(MOST_REPEATS);
            std::iter::repeat_n(entry.frame.0, times as usize)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::read_folded;

    #[test]
    fn stacks_refer_to_frames() {
        let mut profile =
            read_folded(&b"scheduler;m:f/1;m:f/1;vfs_read_[k] 3\nscheduler;m:g/0 1\n"[..]).unwrap();
        profile.capture.period_nanos = 1000;
        let mut out = Vec::new();
        write_speedscope(&profile, &mut out).unwrap();
        let json: serde_json::Value = serde_json::from_slice(&out).unwrap();
        let one = &json["profiles"][0];
        assert_eq!((&one["type"], &one["unit"]), (&"sampled".into(), &"nanoseconds".into()));
        assert_eq!(one["endValue"], 4000);
        let name = |id: &serde_json::Value| {
            json["shared"]["frames"][usize::try_from(id.as_u64().unwrap()).unwrap()]["name"].clone()
        };
        let names: Vec<_> = one["samples"][0].as_array().unwrap().iter().map(name).collect();
        assert_eq!(names, ["scheduler", "m:f/1", "m:f/1", "vfs_read_[k]"]);
        assert_eq!(one["weights"][0], 3000);
    }
}
