//! Writer of speedscope's JSON (`https://www.speedscope.app/file-format-schema.json`): frames once, then a stack of
//! frame numbers and a weight for each sample.
//!
//! If times are known, each thread has a profile in the order of time. If weights are durations as well, these profiles
//! have a common time axis, with an empty stack while the thread did nothing else. Another profile has all threads in an
//! arbitrary order, and its name says so.

use std::io::{self, Write};

use serde::Serialize;

use super::{
    Event, Frame, FrameKind, Profile, Sample,
    names::KERNEL_SUFFIX,
    timeline::{Span, timeline},
};

const SCHEMA: &str = "https://www.speedscope.app/file-format-schema.json";

/// Limit of the written frames of one recursion. Deeper recursion adds no information, and the file would grow without
/// limit.
pub(super) const MAX_REPEATS: u32 = 200;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct File<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    exporter: &'static str,
    name: String,
    active_profile_index: u32,
    shared: Shared<'a>,
    profiles: Vec<Sampled>,
}

#[derive(Serialize)]
struct Shared<'a> {
    frames: Vec<SharedFrame<'a>>,
}

/// A frame. Its `file` makes speedscope colour frames of one kind alike.
#[derive(Serialize)]
struct SharedFrame<'a> {
    name: String,
    file: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Sampled {
    r#type: &'static str,
    name: String,
    unit: &'static str,
    start_value: u64,
    end_value: u64,
    samples: Vec<Vec<u32>>,
    weights: Vec<u64>,
}

/// Writes `profile` for speedscope. CPU time is in nanoseconds if the period is known.
pub fn write_speedscope(profile: &Profile, out: impl Write) -> io::Result<()> {
    let frames = profile
        .frames
        .iter()
        .map(|(_, frame)| SharedFrame { name: written_name(frame), file: file_of(frame) });
    let mut profiles = threads(profile);
    profiles.push(all_threads(profile));
    let file = File {
        schema: SCHEMA,
        exporter: "rabbitscope",
        name: title(profile),
        active_profile_index: 0,
        shared: Shared { frames: frames.collect() },
        profiles,
    };
    serde_json::to_writer(out, &file).map_err(io::Error::from)
}

/// A profile with every sample once, one after another.
fn all_threads(profile: &Profile) -> Sampled {
    let factor = weight_factor(profile);
    let weights: Vec<u64> =
        profile.samples.iter().map(|sample| sample.weight.saturating_mul(factor)).collect();
    Sampled {
        r#type: "sampled",
        name: format!("{}, all threads, no times", profile.value_name()),
        unit: unit(profile, factor),
        start_value: 0,
        end_value: weights.iter().fold(0_u64, |sum, weight| sum.saturating_add(*weight)),
        samples: profile.samples.iter().map(stack).collect(),
        weights,
    }
}

/// One profile for each thread; none if times are unknown.
fn threads(profile: &Profile) -> Vec<Sampled> {
    let Some(lines) = timeline(profile) else { return Vec::new() };
    let lasts = matches!(profile.event, Event::OffCpu)
        || (profile.event == Event::Cpu && profile.capture.period_nanos > 0);
    let ends = lines.values().filter_map(|line| line.spans.last()).map(Span::end_nanos);
    let end = ends.max().unwrap_or(0).max(profile.capture.duration_nanos);
    let timed = lines.iter().filter(|(_, line)| !line.spans.is_empty());
    let written = timed.map(|(name, line)| {
        let name = if name.is_empty() { "a thread without a name" } else { name };
        if lasts {
            at_their_times(profile, name, &line.spans, end)
        } else {
            in_order(profile, name, &line.spans)
        }
    });
    written.collect()
}

/// A profile of weights that do not last: one after another in the order of time.
fn in_order(profile: &Profile, name: &str, spans: &[Span]) -> Sampled {
    let factor = weight_factor(profile);
    let weights: Vec<u64> = spans.iter().map(|span| span.weight.saturating_mul(factor)).collect();
    Sampled {
        r#type: "sampled",
        name: format!("{name}, in the order of time"),
        unit: unit(profile, factor),
        start_value: 0,
        end_value: weights.iter().fold(0_u64, |sum, weight| sum.saturating_add(*weight)),
        samples: spans.iter().map(|span| stack(&profile.samples[span.sample])).collect(),
        weights,
    }
}

/// A profile whose axis is time.
fn at_their_times(profile: &Profile, name: &str, spans: &[Span], end_nanos: u64) -> Sampled {
    let mut samples = Vec::new();
    let mut weights = Vec::new();
    let mut reached = 0;
    let mut add = |stack: Vec<u32>, length: u64| {
        if length > 0 {
            samples.push(stack);
            weights.push(length);
        }
    };
    for span in spans {
        add(Vec::new(), span.start_nanos.saturating_sub(reached));
        add(stack(&profile.samples[span.sample]), span.length_nanos);
        reached = span.end_nanos();
    }
    add(Vec::new(), end_nanos.saturating_sub(reached));
    Sampled {
        r#type: "sampled",
        name: name.to_owned(),
        unit: "nanoseconds",
        start_value: 0,
        end_value: end_nanos.max(reached),
        samples,
        weights,
    }
}

/// The title of a profile's file.
pub(super) fn title(profile: &Profile) -> String {
    match profile.capture.node_pid {
        0 => format!("{} profile", profile.value_name()),
        pid => format!("{} profile of pid {pid}", profile.value_name()),
    }
}

/// Returns the frame's name. Kernel functions keep their suffix, because these formats lack a field for the kind.
pub(super) fn written_name(frame: &Frame) -> String {
    match frame.kind {
        FrameKind::Kernel => format!("{}{KERNEL_SUFFIX}", frame.name),
        _ => frame.name.clone(),
    }
}

/// Returns the module of an Erlang function, or the kind of any other.
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

/// Returns one of the units of the schema.
fn unit(profile: &Profile, factor: u64) -> &'static str {
    const KNOWN: [&str; 5] = ["nanoseconds", "microseconds", "milliseconds", "seconds", "bytes"];
    match profile.event {
        Event::Imported => KNOWN.into_iter().find(|unit| *unit == profile.unit()).unwrap_or("none"),
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
            let times = entry.repeat.min(MAX_REPEATS);
            std::iter::repeat_n(entry.frame.0, times as usize)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read_folded;

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

    #[test]
    fn threads_have_a_time_axis() {
        let mut profile = read_folded(&b"scheduler;m:f/1 3\nscheduler;m:g/0 1\n"[..]).unwrap();
        profile.capture.period_nanos = 1_000_000;
        profile.capture.time_step_nanos = 50_000_000;
        profile.capture.duration_nanos = 200_000_000;
        for (sample, step) in profile.samples.iter_mut().zip([1, 2]) {
            sample.labels.thread = "1_scheduler".into();
            sample.times.add(step, sample.weight);
        }
        let mut out = Vec::new();
        write_speedscope(&profile, &mut out).unwrap();
        let json: serde_json::Value = serde_json::from_slice(&out).unwrap();
        let thread = &json["profiles"][0];
        assert_eq!(
            (&thread["name"], &thread["endValue"]),
            (&"1_scheduler".into(), &200_000_000.into())
        );
        // Idle for 50 ms, f/1 for 3, idle, g/0 for 1, idle.
        let weights = [50, 3, 47, 1, 99].map(|millis| millis * 1_000_000);
        assert_eq!(thread["weights"], serde_json::json!(weights));
        assert_eq!(thread["samples"], serde_json::json!([[], [0, 1], [], [0, 2], []]));
        assert_eq!(json["profiles"][1]["name"], "cpu, all threads, no times");
        assert_eq!(json["profiles"][1]["endValue"], 4_000_000);
    }

    #[test]
    fn weights_that_do_not_last_stand_in_the_order_of_time() {
        let mut profile = read_folded(&b"aux;m:f/1 4096\naux;m:g/0 8192\n"[..]).unwrap();
        profile.event = Event::Mmap;
        profile.capture.time_step_nanos = 50_000_000;
        for (sample, steps) in profile.samples.iter_mut().zip([&[7][..], &[3, 9]]) {
            sample.labels.thread = "aux".into();
            for step in steps {
                sample.times.add(*step, 4096);
            }
        }
        let mut out = Vec::new();
        write_speedscope(&profile, &mut out).unwrap();
        let json: serde_json::Value = serde_json::from_slice(&out).unwrap();
        let thread = &json["profiles"][0];
        assert_eq!(
            (&thread["name"], &thread["unit"]),
            (&"aux, in the order of time".into(), &"bytes".into())
        );
        assert_eq!(thread["samples"], serde_json::json!([[0, 2], [0, 1], [0, 2]]));
        assert_eq!(thread["weights"], serde_json::json!([4096, 4096, 4096]));
    }
}
