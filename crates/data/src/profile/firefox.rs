//! The Firefox Profiler's processed format, version 55 (`docs-developer/CHANGELOG-formats.md` of
//! `firefox-devtools/profiler`; it reads this and all later versions). Written only.
//!
//! A profile knows how often a stack was seen and not when, so that samples stand one after another
//! by thread, each for as long as it was seen. The call tree and the flame graph are right; the time
//! line is an order and no history.

use std::{
    collections::{BTreeMap, HashMap},
    io::{self, Write},
};

use serde_json::{Value, json};

use super::{
    Event, FrameId, FrameKind, Profile, Sample,
    speedscope::{MOST_REPEATS, title, written_name},
};

const FORMAT_VERSION: u32 = 55;

/// Kinds as categories: name and colour.
const CATEGORIES: [(&str, &str); 7] = [
    ("Other", "grey"),
    ("Thread", "darkgray"),
    ("Erlang", "orange"),
    ("VM", "purple"),
    ("Native", "blue"),
    ("Kernel", "green"),
    ("Not running", "transparent"),
];

/// Writes `profile` for the Firefox Profiler.
pub fn write_firefox(profile: &Profile, out: impl Write) -> io::Result<()> {
    let mut threads: BTreeMap<&str, Vec<&Sample>> = BTreeMap::new();
    for sample in &profile.samples {
        threads.entry(&sample.labels.thread).or_default().push(sample);
    }
    let mut started = 0.0;
    let mut written = Vec::new();
    for (number, (name, samples)) in threads.into_iter().enumerate() {
        let thread = Thread::of(profile, &samples);
        let (value, length) = thread.written(name, number, started);
        written.push(value);
        started += length;
    }
    let file = json!({
        "meta": meta(profile),
        "libs": [],
        "threads": written,
        "pages": [],
        "profilerOverhead": [],
        "counters": [],
    });
    serde_json::to_writer(out, &file).map_err(io::Error::from)
}

fn meta(profile: &Profile) -> Value {
    let categories = CATEGORIES
        .map(|(name, color)| json!({ "name": name, "color": color, "subcategories": ["Other"] }));
    json!({
        "categories": categories,
        "debug": false,
        "extensions": { "length": 0, "baseURL": [], "id": [], "name": [] },
        "interval": millis_of_sample(profile),
        "preprocessedProfileVersion": FORMAT_VERSION,
        "processType": 0,
        "product": title(profile),
        "sampleUnits": { "time": "ms", "eventDelay": "ms", "threadCPUDelta": "µs" },
        "startTime": profile.capture.started_unix_nanos as f64 / 1e6,
        "symbolicated": true,
        "pausedRanges": [],
        "version": 24,
        "usesOnlyOneStackType": true,
        "sourceCodeIsNotOnSearchfox": true,
        "markerSchema": [],
    })
}

fn millis_of_sample(profile: &Profile) -> f64 {
    match profile.capture.period_nanos {
        0 => 1.0,
        nanos => nanos as f64 / 1e6,
    }
}

/// The tables of one thread.
struct Thread {
    strings: Vec<String>,
    categories: Vec<usize>,
    functions: HashMap<FrameId, usize>,
    prefixes: Vec<Option<usize>>,
    frames: Vec<usize>,
    stacks: HashMap<(Option<usize>, usize), usize>,
    samples: Vec<(Option<usize>, u64)>,
    weight_type: &'static str,
    weight_divisor: f64,
    millis: f64,
}

impl Thread {
    fn of(profile: &Profile, samples: &[&Sample]) -> Self {
        let (weight_type, weight_divisor) = match profile.event {
            Event::OffCpu => ("tracing-ms", 1e6),
            Event::CallTime => ("tracing-ms", 1e3),
            Event::Mmap | Event::Munmap | Event::Brk => ("bytes", 1.0),
            _ => ("samples", 1.0),
        };
        let mut thread = Self {
            strings: Vec::new(),
            categories: Vec::new(),
            functions: HashMap::new(),
            prefixes: Vec::new(),
            frames: Vec::new(),
            stacks: HashMap::new(),
            samples: Vec::new(),
            weight_type,
            weight_divisor,
            millis: millis_of_sample(profile),
        };
        for sample in samples {
            let stack = thread.stack(profile, sample);
            thread.samples.push((stack, sample.weight));
        }
        thread
    }

    fn stack(&mut self, profile: &Profile, sample: &Sample) -> Option<usize> {
        let mut prefix = None;
        for entry in &sample.stack {
            let function = self.function(profile, entry.frame);
            for _ in 0..entry.repeat.min(MOST_REPEATS) {
                prefix = Some(self.step(prefix, function));
            }
        }
        prefix
    }

    fn step(&mut self, prefix: Option<usize>, function: usize) -> usize {
        *self.stacks.entry((prefix, function)).or_insert_with(|| {
            self.prefixes.push(prefix);
            self.frames.push(function);
            self.frames.len() - 1
        })
    }

    /// Functions, frames and strings are numbered alike: there is one of each for a function.
    fn function(&mut self, profile: &Profile, id: FrameId) -> usize {
        let frame = profile.frames.get(id);
        *self.functions.entry(id).or_insert_with(|| {
            self.strings.push(written_name(frame));
            self.categories.push(category(frame.kind));
            self.strings.len() - 1
        })
    }

    /// The thread as the format has it, and how long it is in milliseconds.
    fn written(&self, name: &str, number: usize, started: f64) -> (Value, f64) {
        let deltas = self.deltas(started);
        let length = deltas.iter().skip(1).sum::<f64>() + self.millis;
        let name = if name.is_empty() { "all threads" } else { name };
        let weights: Vec<f64> =
            self.samples.iter().map(|&(_, weight)| weight as f64 / self.weight_divisor).collect();
        let stacks: Vec<Option<usize>> = self.samples.iter().map(|&(stack, _)| stack).collect();
        let samples = self.samples.len();
        let value = json!({
            "frameTable": self.frame_table(),
            "funcTable": self.function_table(),
            "markers": { "length": 0, "category": [], "data": [], "endTime": [], "name": [],
                         "phase": [], "startTime": [] },
            "name": name,
            "isMainThread": number == 0,
            "nativeSymbols": { "length": 0, "address": [], "functionSize": [], "libIndex": [],
                               "name": [] },
            "pausedRanges": [],
            "pid": "0",
            "processName": "beam.smp",
            "processShutdownTime": null,
            "processStartupTime": 0,
            "processType": "default",
            "registerTime": 0,
            "resourceTable": { "length": 0, "lib": [], "name": [], "host": [], "type": [] },
            "samples": { "length": samples, "weightType": self.weight_type, "stack": stacks,
                         "timeDeltas": deltas, "weight": weights },
            "stackTable": { "length": self.frames.len(), "prefix": self.prefixes,
                            "frame": self.frames },
            "stringArray": self.strings,
            "tid": number.to_string(),
            "unregisterTime": null,
            "showMarkersInTimeline": false,
        });
        (value, length)
    }

    /// Each sample begins where the one before has ended.
    fn deltas(&self, started: f64) -> Vec<f64> {
        let before = self.samples.iter().map(|&(_, weight)| match self.weight_type {
            "samples" => weight as f64 * self.millis,
            "tracing-ms" => weight as f64 / self.weight_divisor,
            _ => self.millis,
        });
        let count = self.samples.len();
        std::iter::once(started).chain(before).take(count).collect()
    }

    fn frame_table(&self) -> Value {
        let count = self.strings.len();
        json!({
            "length": count,
            "address": vec![-1; count],
            "inlineDepth": vec![0; count],
            "category": self.categories,
            "subcategory": vec![0; count],
            "func": (0..count).collect::<Vec<_>>(),
            "nativeSymbol": vec![Value::Null; count],
            "innerWindowID": vec![0; count],
            "line": vec![Value::Null; count],
            "column": vec![Value::Null; count],
        })
    }

    fn function_table(&self) -> Value {
        let count = self.strings.len();
        json!({
            "length": count,
            "name": (0..count).collect::<Vec<_>>(),
            "isJS": vec![false; count],
            "relevantForJS": vec![false; count],
            "resource": vec![-1; count],
            "fileName": vec![Value::Null; count],
            "lineNumber": vec![Value::Null; count],
            "columnNumber": vec![Value::Null; count],
        })
    }
}

fn category(kind: FrameKind) -> usize {
    match kind {
        FrameKind::Thread => 1,
        FrameKind::Erlang | FrameKind::Bif => 2,
        FrameKind::VmFragment | FrameKind::Collecting => 3,
        FrameKind::Native => 4,
        FrameKind::Kernel => 5,
        FrameKind::Waiting | FrameKind::Runnable => 6,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::read_folded;

    #[test]
    fn tables_refer_to_each_other() {
        let mut profile =
            read_folded(&b"scheduler;m:f/1;m:f/1 3\nscheduler;m:g/0 1\n"[..]).unwrap();
        profile.capture.period_nanos = 1_000_000;
        let mut out = Vec::new();
        write_firefox(&profile, &mut out).unwrap();
        let json: Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(json["meta"]["preprocessedProfileVersion"], 55);
        let thread = &json["threads"][0];
        assert_eq!(thread["samples"]["weight"], json!([3.0, 1.0]));
        assert_eq!(thread["samples"]["timeDeltas"], json!([0.0, 3.0]));
        let at = |column: &Value, row: u64| column[usize::try_from(row).unwrap()].clone();
        let number = |column: &Value, row: u64| at(column, row).as_u64();
        let mut names = Vec::new();
        let mut next = thread["samples"]["stack"][0].as_u64();
        while let Some(stack) = next {
            let frame = number(&thread["stackTable"]["frame"], stack).unwrap();
            let function = number(&thread["frameTable"]["func"], frame).unwrap();
            let name = number(&thread["funcTable"]["name"], function).unwrap();
            names.push(at(&thread["stringArray"], name));
            next = number(&thread["stackTable"]["prefix"], stack);
        }
        assert_eq!(names, ["m:f/1", "m:f/1", "scheduler"]);
        for (table, column) in [("frameTable", "category"), ("funcTable", "name")] {
            let length = thread[table]["length"].as_u64().unwrap();
            assert_eq!(thread[table][column].as_array().unwrap().len() as u64, length);
        }
    }
}
