//! Profiles survive writing and reading; broken and foreign files are handled.

use std::io::{Read as _, Write as _};

use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use prost::Message as _;

use super::{
    super::{
        Capture, Event, Frame, FrameKind, FrameTable, Identities, Identity, Labels, LineWeight,
        Mode, Profile, Sample, StackEntry, StackOutcome, StackQuality, Times,
    },
    LabelledStack, message, read_pprof, write_labelled_pprof, write_pprof,
};

fn capture() -> Capture {
    Capture {
        recorder: "eBPF".to_owned(),
        clock: "cpu-clock".to_owned(),
        node_pid: 77,
        otp_release: "25".to_owned(),
        started_unix_nanos: 1_700_000_000_000_000_001,
        duration_nanos: 15_000_000_000,
        period_nanos: 1_001_001,
        cpus: 2,
        time_step_nanos: 50_000_000,
        value: None,
        notes: vec!["The node went away.".to_owned()],
    }
}

fn quality() -> StackQuality {
    StackQuality {
        complete: 5,
        truncated: 4,
        broken: 3,
        no_process: 2,
        no_function: 0,
        unsymbolised: 1,
        native_cut: 0,
        not_unwound: 0,
        lost: 9,
    }
}

fn recorded() -> Profile {
    let mut frames = FrameTable::default();
    let mut frame = |name: &str, kind| frames.intern(Frame { name: name.to_owned(), kind });
    let scheduler = frame("scheduler", FrameKind::Thread);
    let map = frame("lists:map/2", FrameKind::Erlang);
    let gc = frame("global::garbage_collect", FrameKind::VmFragment);
    let bif = frame("lists:member/2", FrameKind::Bif);
    let alloc = frame("lists:map/2", FrameKind::Native);
    let brk = frame("brk", FrameKind::Kernel);
    let entry = |frame, repeat| StackEntry { frame, repeat };
    let labels = Labels {
        process: Some("<0.42.0>".into()),
        thread: "1_scheduler".into(),
        mode: Mode::Kernel,
        outcome: StackOutcome::Truncated,
    };
    let idle = Labels {
        process: None,
        thread: "2_scheduler".into(),
        mode: Mode::User,
        outcome: StackOutcome::NoProcess,
    };
    let mut times = Times::default();
    times.add(3, 5);
    times.add(200, 7);
    let identity = Identity {
        role: "queue".to_owned(),
        name: "orders".to_owned(),
        vhost: "/".to_owned(),
        ..Identity::default()
    };
    let deep = [(scheduler, 1), (map, 300), (bif, 1), (gc, 1), (alloc, 2), (brk, 1)];
    Profile {
        event: Event::Cpu,
        capture: capture(),
        quality: quality(),
        frames,
        samples: vec![
            Sample {
                stack: deep.map(|(f, n)| entry(f, n)).to_vec(),
                labels,
                weight: 12,
                count: 12,
                times,
            },
            Sample {
                stack: vec![entry(scheduler, 1)],
                labels: idle,
                weight: 3,
                count: 3,
                times: Times::default(),
            },
        ],
        identities: Identities::from([("<0.42.0>".to_owned(), identity)]),
        lines: vec![
            LineWeight { frame: map, file: "lists.erl".into(), line: 1239, own: 0, total: 12 },
            LineWeight { frame: bif, file: "lists.hrl".into(), line: 1, own: 3, total: 3 },
        ],
    }
}

#[test]
fn nothing_is_lost_on_the_way() {
    let before = recorded();
    let mut file = Vec::new();
    write_pprof(&before, &mut file).unwrap();
    let after = read_pprof(file.as_slice()).unwrap();
    assert_eq!(after.event, before.event);
    assert_eq!(after.capture, before.capture);
    assert_eq!(after.quality, before.quality);
    assert_eq!(after.samples, before.samples);
    assert_eq!(after.identities, before.identities);
    assert_eq!(after.lines, before.lines);
    assert!(after.frames.iter().eq(before.frames.iter()));
}

/// The bytes that are written without messages equal `prost`'s encoding of the same messages.
#[test]
fn every_byte_is_that_of_an_encoder_of_messages() {
    let mut mmap = recorded();
    mmap.event = Event::Mmap;
    let labelled = |profile: &Profile, file: &mut Vec<u8>| {
        let stacks = profile.samples.iter().map(|sample| LabelledStack {
            stack: &sample.stack,
            labels: vec![("role", "queue"), ("empty", "")],
            count: sample.count,
            weight: sample.weight,
        });
        write_labelled_pprof(profile, stacks, file)
    };
    for profile in [recorded(), mmap, Profile { samples: Vec::new(), ..recorded() }] {
        for writes in
            [&labelled as &dyn Fn(&_, &mut _) -> _, &|profile, file| write_pprof(profile, file)]
        {
            let (mut file, mut bytes) = (Vec::new(), Vec::new());
            writes(&profile, &mut file).unwrap();
            GzDecoder::new(file.as_slice()).read_to_end(&mut bytes).unwrap();
            let message = message::Profile::decode(bytes.as_slice()).unwrap();
            assert_eq!(message.encode_to_vec(), bytes);
            assert_eq!(message.sample.len(), profile.samples.len());
            assert_eq!(message.function.len(), profile.frames.len());
        }
    }
}

/// A file of another program: one stack `main` → inlined `helper`, two sample types.
fn foreign() -> message::Profile {
    let strings = [
        "",
        "alloc",
        "count",
        "space",
        "bytes",
        "main",
        "helper",
        "/usr/bin/x",
        "[kernel.kallsyms]",
    ];
    let value = |r#type, unit| message::ValueType { r#type, unit };
    let function = |id, name| message::Function { id, name, system_name: 0 };
    let mapping = |id, start, filename| message::Mapping {
        id,
        memory_start: start,
        filename,
        has_functions: false,
    };
    let line = |function_id| message::Line { function_id };
    message::Profile {
        sample_type: vec![value(1, 2), value(3, 4)],
        sample: vec![message::Sample {
            location_id: vec![12, 11, 10],
            value: vec![1, 4096],
            label: vec![],
            times: vec![],
        }],
        mapping: vec![mapping(1, 0x1000, 7), mapping(2, 0, 8)],
        location: vec![
            message::Location { id: 10, mapping_id: 1, address: 0x1234, line: vec![] },
            message::Location { id: 11, mapping_id: 1, address: 0, line: vec![line(2), line(1)] },
            message::Location { id: 12, mapping_id: 2, address: 0, line: vec![line(2)] },
        ],
        function: vec![function(1, 5), function(2, 6)],
        string_table: strings.map(str::to_owned).to_vec(),
        ..message::Profile::default()
    }
}

#[test]
fn a_foreign_file_reads() {
    let profile = read_pprof(foreign().encode_to_vec().as_slice()).unwrap();
    let names: Vec<_> = profile.samples[0]
        .stack
        .iter()
        .map(|entry| profile.frames.get(entry.frame))
        .map(|frame| (frame.name.as_str(), frame.kind))
        .collect();
    let native = FrameKind::Native;
    let expected =
        [("x+0x234", native), ("main", native), ("helper", native), ("helper", FrameKind::Kernel)];
    assert_eq!(names, expected);
    assert_eq!(profile.total(), 4096);
    assert_eq!(profile.capture.recorder, "pprof");
    assert_eq!(
        profile.capture.notes,
        [
            "Weights are `space` in bytes; the file also has `alloc` in units: select with `flamegraph --value NAME`.",
            "The file has no information on stack quality."
        ]
    );
    assert_eq!(profile.samples[0].labels.outcome, StackOutcome::Unknown);
    assert!(profile.lines.is_empty());
}

#[test]
fn an_event_with_weights_keeps_both_values() {
    let mut profile = recorded();
    profile.event = Event::Mmap;
    profile.capture.period_nanos = 0;
    profile.samples[0].weight = 8 << 20;
    let mut bytes = Vec::new();
    write_pprof(&profile, &mut bytes).unwrap();
    let again = read_pprof(bytes.as_slice()).unwrap();
    assert_eq!((again.event, again.event.unit()), (Event::Mmap, "bytes"));
    let values = |profile: &Profile| -> Vec<(u64, u64)> {
        profile.samples.iter().map(|sample| (sample.weight, sample.count)).collect()
    };
    assert_eq!(values(&again), values(&profile));
}

fn check_broken(change: impl FnOnce(&mut message::Profile), expected: &str) {
    let mut message = foreign();
    change(&mut message);
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(&message.encode_to_vec()).unwrap();
    let error = read_pprof(gzip.finish().unwrap().as_slice()).unwrap_err();
    assert_eq!(error.to_string(), format!("broken pprof file: {expected}"));
}

#[test]
fn a_broken_file_is_refused() {
    check_broken(|file| file.sample_type.clear(), "it has no sample type");
    check_broken(|file| file.sample[0].value.clear(), "a sample without a proper value");
    check_broken(|file| file.sample[0].value[1] = -1, "a sample without a proper value");
    check_broken(|file| file.sample[0].location_id.push(99), "there is no location 99");
    check_broken(|file| file.location[1].line[0].function_id = 98, "there is no function 98");
    check_broken(|file| file.function[0].name = 97, "there is no string 97");
    check_broken(|file| file.function[0].name = -1, "there is no string -1");
    let line = |location_id, file| {
        let line = message::SourceLine { location_id, file, ..message::SourceLine::default() };
        move |file: &mut message::Profile| file.source_line.push(line)
    };
    check_broken(line(99, 7), "a line of location 99, which is no function");
    check_broken(line(11, 7), "a line of location 11, which is no function");
    check_broken(line(12, 96), "there is no string 96");
    let name =
        |file: &mut message::Profile| file.string_table[7] = format!("/{}", "x".repeat(2000));
    check_broken(name, "a name of 2000 bytes; at most 1024 are read");
    let thread = |file: &mut message::Profile| {
        file.string_table.extend(["thread".to_owned(), "x".repeat(1025)]);
        file.sample[0].label.push(message::Label { key: 9, str: 10 });
    };
    check_broken(thread, "a name of 1025 bytes; at most 1024 are read");
    let not_pprof = read_pprof(&b"PERFILE2"[..]).unwrap_err().to_string();
    assert!(not_pprof.starts_with("not a pprof file: "), "{not_pprof}");
    assert!(read_pprof(&[0x1f, 0x8b, 0][..]).is_err());
}

/// Builds a location of ten thousand inlined functions that occurs ten thousand times in a stack.
#[test]
fn locations_do_not_multiply_without_end() {
    let multiplied = |times: usize| {
        move |file: &mut message::Profile| {
            file.location[1].line = vec![message::Line { function_id: 1 }; 10_000];
            file.sample[0].location_id = vec![11; times];
        }
    };
    check_broken(multiplied(10_000), "its stacks have far more frames than it has bytes");
    let mut message = foreign();
    multiplied(10)(&mut message);
    let profile = read_pprof(message.encode_to_vec().as_slice()).unwrap();
    assert_eq!(profile.samples[0].stack[0].repeat, 100_000);
}

#[test]
fn damage_is_an_error_or_another_profile_but_never_a_panic() {
    let bytes = foreign().encode_to_vec();
    for index in 0..bytes.len() {
        let _ = read_pprof(&bytes[..index]);
        for bit in 0..8 {
            let mut damaged = bytes.clone();
            damaged[index] ^= 1 << bit;
            let _ = read_pprof(damaged.as_slice());
        }
    }
}
