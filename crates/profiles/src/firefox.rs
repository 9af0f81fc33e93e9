//! Writer of the Firefox Profiler's processed format, version 55 (`docs-developer/CHANGELOG-formats.md` of
//! `firefox-devtools/profiler`, which reads this and all later versions).
//!
//! Samples with recorded times stand at these, in steps of 50 ms. Samples without times follow one another by thread,
//! each as long as its weight. The time line then shows an arbitrary order, and the thread's name says so.
//!
//! This is not the crate `fxprof-processed-profile`, whose weights in version 0.8 are 32-bit integers: it has no fractions
//! of milliseconds, and no sums of bytes above 2 GiB.

use std::{
    collections::{BTreeMap, HashMap},
    io::{self, Write},
};

use serde_json::{Value, json};

use super::{
    Event, FrameId, FrameKind, Profile, Sample,
    speedscope::{MAX_REPEATS, title, written_name},
    timeline::{Span, timeline},
};

const FORMAT_VERSION: u32 = 55;

/// Categories with name and colour, one for each group of frame kinds.
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
    let written: Vec<Value> = rows_by_thread(profile)
        .iter()
        .enumerate()
        .map(|(number, (name, rows))| Thread::new(profile, rows).written(name, number))
        .collect();
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

/// A sample on a time line.
#[derive(Debug, PartialEq)]
struct Row {
    /// Absent in a row that ends the previous sample.
    sample: Option<usize>,
    weight: u64,
    millis: f64,
}

/// Returns threads by name with their samples in order of time.
fn rows_by_thread(profile: &Profile) -> Vec<(String, Vec<Row>)> {
    let Some(lines) = timeline(profile) else {
        let mut threads: BTreeMap<&str, Vec<(usize, u64)>> = BTreeMap::new();
        for (number, sample) in profile.samples.iter().enumerate() {
            threads.entry(&sample.labels.thread).or_default().push((number, sample.weight));
        }
        let mut started = 0.0;
        let rows = threads.into_iter().map(|(name, samples)| {
            let rows = in_a_row(profile, &samples, &mut started);
            (untimed(if name.is_empty() { "all threads" } else { name }), rows)
        });
        return rows.collect();
    };
    let mut threads = Vec::new();
    for (name, line) in lines {
        if !line.spans.is_empty() {
            threads.push((name.to_owned(), at_their_times(&line.spans)));
        }
        if !line.untimed.is_empty() {
            let rows = in_a_row(profile, &line.untimed, &mut 0.0);
            threads.push((untimed(name), rows));
        }
    }
    threads
}

/// Names a thread whose time line shows no times.
fn untimed(name: &str) -> String {
    format!("{name} (times not recorded)")
}

/// Places spans at their times. A row without a sample ends the last span before each pause.
fn at_their_times(spans: &[Span]) -> Vec<Row> {
    let millis = |nanos: u64| nanos as f64 / 1e6;
    let mut rows = Vec::with_capacity(spans.len());
    for (index, span) in spans.iter().enumerate() {
        let (sample, weight) = (Some(span.sample), span.weight);
        rows.push(Row { sample, weight, millis: millis(span.start_nanos) });
        let has_pause = spans.get(index + 1).is_none_or(|next| next.start_nanos > span.end_nanos());
        if has_pause && span.length_nanos > 0 {
            rows.push(Row { sample: None, weight: 0, millis: millis(span.end_nanos()) });
        }
    }
    rows
}

/// Places samples one after another, each at the end of the previous one.
fn in_a_row(profile: &Profile, samples: &[(usize, u64)], started: &mut f64) -> Vec<Row> {
    let millis_of = |weight: u64| match (profile.event, profile.unit_nanos()) {
        (_, Some(nanos)) => weight as f64 * nanos / 1e6,
        (Event::Imported | Event::Mmap | Event::Munmap | Event::Brk, _) => {
            millis_of_sample(profile)
        }
        _ => weight as f64 * millis_of_sample(profile),
    };
    let row = |&(sample, weight): &(usize, u64)| {
        let row = Row { sample: Some(sample), weight, millis: *started };
        *started += millis_of(weight);
        row
    };
    samples.iter().map(row).collect()
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
    sample_stacks: Vec<Option<usize>>,
    weights: Vec<f64>,
    weight_type: &'static str,
    /// Milliseconds since the previous sample.
    time_deltas: Vec<f64>,
}

impl Thread {
    fn new(profile: &Profile, rows: &[Row]) -> Self {
        let (weight_type, divisor) = match (profile.unit_nanos(), profile.unit()) {
            (Some(nanos), _) => ("tracing-ms", 1e6 / nanos),
            (_, "bytes") => ("bytes", 1.0),
            _ => ("samples", 1.0),
        };
        let mut thread = Self {
            strings: Vec::new(),
            categories: Vec::new(),
            functions: HashMap::new(),
            prefixes: Vec::new(),
            frames: Vec::new(),
            stacks: HashMap::new(),
            sample_stacks: Vec::new(),
            weights: rows.iter().map(|row| row.weight as f64 / divisor).collect(),
            weight_type,
            time_deltas: Vec::new(),
        };
        let mut before = 0.0;
        for row in rows {
            let stack = row.sample.and_then(|index| thread.stack(profile, &profile.samples[index]));
            thread.sample_stacks.push(stack);
            thread.time_deltas.push(row.millis - std::mem::replace(&mut before, row.millis));
        }
        thread
    }

    fn stack(&mut self, profile: &Profile, sample: &Sample) -> Option<usize> {
        let mut prefix = None;
        for entry in &sample.stack {
            let function = self.function(profile, entry.frame);
            for _ in 0..entry.repeat.min(MAX_REPEATS) {
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

    /// Returns the number that function, frame and string of `id` share, because each function has one of each.
    fn function(&mut self, profile: &Profile, id: FrameId) -> usize {
        let frame = profile.frames.get(id);
        *self.functions.entry(id).or_insert_with(|| {
            self.strings.push(written_name(frame));
            self.categories.push(category(frame.kind));
            self.strings.len() - 1
        })
    }

    /// Returns the thread in the format's JSON.
    fn written(&self, name: &str, number: usize) -> Value {
        json!({
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
            "samples": { "length": self.weights.len(), "weightType": self.weight_type,
                         "stack": self.sample_stacks, "timeDeltas": self.time_deltas,
                         "weight": self.weights },
            "stackTable": { "length": self.frames.len(), "prefix": self.prefixes,
                            "frame": self.frames },
            "stringArray": self.strings,
            "tid": number.to_string(),
            "unregisterTime": null,
            "showMarkersInTimeline": false,
        })
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
    use crate::read_folded;

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
        assert_eq!(thread["name"], "all threads (times not recorded)");
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

    #[test]
    fn samples_stand_at_their_times() {
        let mut profile =
            read_folded(&b"scheduler;m:f/1 3\nscheduler;m:g/0 1\nscheduler;m:h/0 2\n"[..]).unwrap();
        profile.capture.period_nanos = 1_000_000;
        profile.capture.time_step_nanos = 50_000_000;
        for (sample, step) in profile.samples.iter_mut().zip([1, 4]) {
            sample.labels.thread = "1_scheduler".into();
            sample.times.add(step, sample.weight);
        }
        profile.samples[2].labels.thread = "1_scheduler".into();
        let mut out = Vec::new();
        write_firefox(&profile, &mut out).unwrap();
        let json: Value = serde_json::from_slice(&out).unwrap();
        let samples = &json["threads"][0]["samples"];
        // f/1 from 50 ms on for 3 ms, g/0 from 200 ms on for 1 ms.
        assert_eq!(samples["timeDeltas"], json!([50.0, 3.0, 147.0, 1.0]));
        assert_eq!(samples["weight"], json!([3.0, 0.0, 1.0, 0.0]));
        assert_eq!(samples["stack"], json!([1, null, 2, null]));
        let untimed = &json["threads"][1];
        assert_eq!(untimed["name"], "1_scheduler (times not recorded)");
        assert_eq!(untimed["samples"]["weight"], json!([2.0]));
    }
}
