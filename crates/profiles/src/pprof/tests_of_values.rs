//! The choice among the values of a foreign file, and their meaning.

use prost::Message as _;

use super::{
    super::{Event, Profile, ReadOptions},
    PprofError, message, read_pprof_with, write_pprof,
};

/// A file with these types (name and unit), and one sample of function `f<n>` for each list of values.
fn file(
    types: &[(&str, &str)],
    samples: &[&[i64]],
    more: impl FnOnce(&mut Strings, &mut message::Profile),
) -> Vec<u8> {
    let mut strings = Strings(vec![String::new()]);
    let mut file = message::Profile::default();
    for (name, unit) in types {
        file.sample_type
            .push(message::ValueType { r#type: strings.id(name), unit: strings.id(unit) });
    }
    for (number, values) in (1..).zip(samples) {
        let name = strings.id(&format!("f{number}"));
        file.function.push(message::Function { id: number, name, system_name: 0 });
        let line = vec![message::Line { function_id: number }];
        file.location.push(message::Location { id: number, mapping_id: 0, address: 0, line });
        let (location_id, value) = (vec![number], values.to_vec());
        file.sample.push(message::Sample { location_id, value, label: vec![], times: vec![] });
    }
    more(&mut strings, &mut file);
    file.string_table = strings.0;
    file.encode_to_vec()
}

struct Strings(Vec<String>);

impl Strings {
    fn id(&mut self, text: &str) -> i64 {
        let known = self.0.iter().position(|known| known == text);
        let index = known.unwrap_or_else(|| {
            self.0.push(text.to_owned());
            self.0.len() - 1
        });
        i64::try_from(index).unwrap()
    }
}

fn nothing(_: &mut Strings, _: &mut message::Profile) {}

fn period<'a>(
    name: &'a str,
    unit: &'a str,
    period: i64,
) -> impl FnOnce(&mut Strings, &mut message::Profile) + 'a {
    move |strings, file| {
        let value_type = message::ValueType { r#type: strings.id(name), unit: strings.id(unit) };
        (file.period_type, file.period) = (Some(value_type), period);
    }
}

fn read(bytes: &[u8], value: Option<&str>) -> Result<Profile, PprofError> {
    read_pprof_with(bytes, ReadOptions { value, ..ReadOptions::within(1 << 20) })
}

/// Event, unit, and weights with counts.
type Found<'a> = (Event, &'a str, &'a [(u64, u64)]);

#[track_caller]
fn check(bytes: &[u8], value: Option<&str>, (event, unit, expected): Found<'_>) {
    let profile = read(bytes, value).unwrap();
    let values: Vec<_> =
        profile.samples.iter().map(|sample| (sample.weight, sample.count)).collect();
    assert_eq!((profile.event, profile.unit(), &values[..]), (event, unit, expected));
    // Our own file reads back with the same values.
    let mut file = Vec::new();
    write_pprof(&profile, &mut file).unwrap();
    let again = read(&file, None).unwrap();
    assert_eq!((again.event, again.unit(), &again.samples), (event, unit, &profile.samples));
    assert_eq!(again.capture, profile.capture);
}

#[test]
fn time_alone_is_counted_by_its_period() {
    let cpu = &[("cpu", "nanoseconds")];
    let ten = 10_000_000;
    let whole = file(cpu, &[&[ten], &[3 * ten]], period("cpu", "nanoseconds", ten));
    check(&whole, None, (Event::Cpu, "samples", &[(1, 1), (3, 3)]));
    assert_eq!(read(&whole, None).unwrap().capture.period_nanos, 10_000_000);
    let uneven = file(cpu, &[&[ten], &[ten + 1]], period("cpu", "nanoseconds", ten));
    let values = [(10_000_000, 1), (10_000_001, 1)];
    check(&uneven, None, (Event::Imported, "nanoseconds", &values));
    // The file does not give the number of samples.
    let bare = file(cpu, &[&[ten], &[ten]], nothing);
    check(&bare, None, (Event::Imported, "nanoseconds", &[(10_000_000, 1); 2]));
    let micros =
        file(&[("cpu", "microseconds")], &[&[50], &[20]], period("cpu", "microseconds", 10));
    check(&micros, None, (Event::Imported, "microseconds", &[(50, 5), (20, 2)]));
}

#[test]
fn samples_beside_their_time_are_ticks() {
    let types = &[("samples", "count"), ("cpu", "nanoseconds")];
    let go = file(types, &[&[2, 20], &[1, 10]], period("cpu", "nanoseconds", 10));
    for value in [None, Some("cpu"), Some("samples"), Some("0"), Some("1")] {
        check(&go, value, (Event::Cpu, "samples", &[(2, 2), (1, 1)]));
        assert_eq!(read(&go, value).unwrap().capture.period_nanos, 10);
    }
    let uneven = file(types, &[&[2, 25], &[1, 10]], period("cpu", "nanoseconds", 10));
    check(&uneven, None, (Event::Imported, "nanoseconds", &[(25, 2), (10, 1)]));
}

#[test]
fn the_default_of_a_file_or_the_last_that_is_not_zero_is_taken() {
    let types = &[
        ("alloc_objects", "count"),
        ("alloc_space", "bytes"),
        ("inuse_objects", "count"),
        ("inuse_space", "bytes"),
    ];
    let samples: &[&[i64]] = &[&[5, 500, 1, 100], &[7, 700, 0, 0]];
    let heap = file(types, samples, period("space", "bytes", 512 << 10));
    check(&heap, None, (Event::Imported, "bytes", &[(100, 1)]));
    check(&heap, Some("alloc_space"), (Event::Imported, "bytes", &[(500, 5), (700, 7)]));
    check(&heap, Some("alloc_objects"), (Event::Imported, "units", &[(5, 5), (7, 7)]));
    let all_free: &[&[i64]] = &[&[5, 500, 0, 0], &[7, 700, 0, 0]];
    let freed = file(types, all_free, nothing);
    check(&freed, None, (Event::Imported, "bytes", &[(500, 5), (700, 7)]));
    let chosen = |strings: &mut Strings, file: &mut message::Profile| {
        file.default_sample_type = strings.id("alloc_objects");
    };
    check(&file(types, samples, chosen), None, (Event::Imported, "units", &[(5, 5), (7, 7)]));
    let profile = read(&heap, None).unwrap();
    assert_eq!(profile.value_name(), "inuse_space");
    let notes = profile.capture.notes.join(" ");
    assert!(notes.contains("`alloc_space` in bytes") && notes.contains("--value"), "{notes}");
}

#[test]
fn a_value_that_is_not_there_is_refused_with_those_that_are() {
    let heap = file(&[("objects", "count"), ("space", "bytes")], &[&[1, 2]], nothing);
    for asked in ["x", "2", ""] {
        let error = read(&heap, Some(asked)).unwrap_err().to_string();
        assert!(error.contains("`objects`, `space`"), "{error}");
    }
}

#[test]
fn samples_of_something_else_are_no_ticks() {
    let wall = file(&[("wall", "nanoseconds")], &[&[7]], period("wall", "nanoseconds", 7));
    check(&wall, None, (Event::Imported, "nanoseconds", &[(7, 1)]));
    let heap = file(&[("samples", "count")], &[&[7]], period("space", "bytes", 7));
    check(&heap, None, (Event::Imported, "units", &[(7, 7)]));
    let bare = file(&[("samples", "count")], &[&[7]], nothing);
    check(&bare, None, (Event::Cpu, "samples", &[(7, 7)]));
}
