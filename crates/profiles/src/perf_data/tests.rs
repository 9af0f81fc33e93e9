use std::io::Cursor;

use super::*;
use crate::{Event, Profile, write_folded};

/// Sizes of the header and of an event's attributes, after which the position of its ids stands.
const HEADER: usize = 104;
const ATTRIBUTES: usize = 64;
const RECORDS_AT: u64 = (HEADER + ATTRIBUTES + 16) as u64;

/// The fields IP, TID, TIME and CALLCHAIN.
const SAMPLE_TYPE: u64 = 1 | 1 << 1 | 1 << 2 | 1 << 5;

const KERNEL: u64 = (-128_i64).cast_unsigned();
const USER: u64 = (-512_i64).cast_unsigned();

struct Known;

impl CodeNames for Known {
    fn in_file(&mut self, file: &RecordedFile, offset: u64) -> Option<String> {
        (&*file.path == "/bin/x").then(|| format!("x_{offset:x}"))
    }

    fn in_kernel(&mut self, _: &RecordedKernel, _: u64) -> Option<String> {
        Some("vfs_read".to_owned())
    }

    fn generated(&mut self, pid: u32, address: u64) -> Option<String> {
        (pid == 7 && address == 0x9000).then(|| "$lists:map/2".to_owned())
    }
}

fn record(kind: u32, misc: u16, body: &[u8]) -> Vec<u8> {
    let size = u16::try_from(body.len() + 8).unwrap();
    [&kind.to_le_bytes()[..], &misc.to_le_bytes(), &size.to_le_bytes(), body].concat()
}

fn words_of(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn both(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

fn named(tid: u32, name: &[u8; 16]) -> Vec<u8> {
    record(3, 0, &[&words_of(&[both(7, tid)])[..], name].concat())
}

fn mapped(start: u64, length: u64, offset: u64, path: &[u8]) -> Vec<u8> {
    let fields = words_of(&[both(7, 7), start, length, offset, 0, 0, 0, 0]);
    record(10, 0, &[&fields[..], path].concat())
}

fn sample(tid: u32, time: u64, chain: &[u64]) -> Vec<u8> {
    let head = words_of(&[chain[1], both(7, tid), time, chain.len() as u64]);
    record(9, 2, &[head, words_of(chain)].concat())
}

fn file(records: &[Vec<u8>]) -> Vec<u8> {
    file_of(records, 0)
}

/// A file whose event has these flags.
fn file_of(records: &[Vec<u8>], flags: u64) -> Vec<u8> {
    let records = records.concat();
    let header = [
        104,
        (ATTRIBUTES + 16) as u64,
        HEADER as u64,
        (ATTRIBUTES + 16) as u64,
        RECORDS_AT,
        records.len() as u64,
        0,
        0,
        0,
        0,
        0,
        0,
    ];
    let attributes =
        [both(1, 64), 0, 1_000_000, SAMPLE_TYPE, 0, flags, 0, 0].map(u64::to_le_bytes).concat();
    [b"PERFILE2".to_vec(), words_of(&header), attributes, words_of(&[RECORDS_AT, 0]), records]
        .concat()
}

fn recording() -> Vec<u8> {
    let stack = [USER, 0x1010, 0x9001];
    file(&[
        named(8, b"1_scheduler\0\0\0\0\0"),
        mapped(0x1000, 0x1000, 0x500, b"/bin/x\0\0"),
        sample(8, 1000, &stack),
        sample(8, 5000, &[KERNEL, u64::MAX - 9999, USER, 0x1010, 0x9001]),
        sample(8, 2000, &stack),
    ])
}

fn read(bytes: &[u8]) -> Result<Profile, PerfDataError> {
    read_perf_data(Cursor::new(bytes), &mut Known)
}

fn folded(bytes: &[u8]) -> String {
    let mut out = Vec::new();
    write_folded(&read(bytes).unwrap(), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[track_caller]
fn check_refused(bytes: &[u8], parts: &[&str]) {
    let error = read(bytes).unwrap_err().to_string();
    for part in parts {
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn addresses_become_names() {
    // A mark is followed by an interrupted instruction, not by a return address.
    let expected = "scheduler;lists:map/2;x_510 2\nscheduler;lists:map/2;x_510;vfs_read_[k] 1\n";
    assert_eq!(folded(&recording()), expected);
    let profile = read(&recording()).unwrap();
    assert_eq!((profile.event, profile.total()), (Event::Cpu, 3));
    assert_eq!(profile.capture.period_nanos, 1_000_000);
    assert_eq!(profile.capture.duration_nanos, 4000);
}

#[test]
fn what_was_seen_before_another_file_was_mapped_keeps_its_name() {
    let stack = [USER, 0x1010];
    let bytes = file(&[
        named(8, b"x\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"),
        mapped(0x1000, 0x1000, 0, b"/bin/x\0\0"),
        sample(8, 1, &stack),
        mapped(0x1000, 0x1000, 0x100, b"/bin/x\0\0"),
        sample(8, 2, &stack),
    ]);
    assert_eq!(folded(&bytes), "x;x_10 1\nx;x_110 1\n");
}

#[test]
fn a_mapping_beyond_any_file_is_no_panic() {
    let bytes = file(&[
        named(8, b"x\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"),
        mapped(0x1000, 0x1000, u64::MAX, b"/bin/x\0\0"),
        sample(8, 1, &[USER, 0x1010]),
    ]);
    assert_eq!(folded(&bytes), "x;x_f 1\n");
}

/// Appends the fields that end a record other than a sample: thread and time.
fn at(time: u64, record: &[u8]) -> Vec<u8> {
    let body = [&record[8..], &words_of(&[both(7, 8), time])].concat();
    let kind = u32::from_le_bytes(record[..4].try_into().unwrap());
    self::record(kind, 0, &body)
}

/// The flag of an event all of whose records have a time.
const ALL_HAVE_ID: u64 = 1 << 18;

fn round() -> Vec<u8> {
    record(68, 0, &[])
}

/// The buffers of several CPUs stand one after another.
#[test]
fn records_count_in_order_of_time() {
    let stack = [USER, 0x1010];
    let begin = [
        at(10, &named(8, b"x\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0")),
        at(11, &mapped(0x1000, 0x1000, 0, b"/bin/x\0\0")),
    ];
    let samples = [sample(8, 12, &stack), sample(8, 13, &stack)];
    let late = at(20, &mapped(0x1000, 0x1000, 0x100, b"/bin/x\0\0"));
    let after = sample(8, 21, &stack);
    let expected = "x;x_10 2\nx;x_110 1\n";
    let check = |records: &[Vec<u8>]| {
        let bytes = file_of(records, ALL_HAVE_ID);
        assert_eq!(folded(&bytes), expected);
    };
    let [named, mapped] = begin;
    let [first, second] = samples;
    let all = [first, second, named, mapped, after, late];
    check(&all);
    let [first, second, named, mapped, after, late] = all;
    check(&[first, round(), second, after, named, mapped, late, round(), round()]);
}

#[test]
fn samples_keep_the_name_that_their_thread_had() {
    let stack = [USER, 0x1010];
    let before = at(10, &named(8, b"a\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"));
    let after = at(20, &named(8, b"b\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"));
    let file_of_program = at(1, &mapped(0x1000, 0x1000, 0, b"/bin/x\0\0"));
    let records = [
        sample(8, 11, &stack),
        sample(8, 22, &stack),
        sample(8, 12, &stack),
        before,
        file_of_program,
        round(),
        after,
        sample(8, 21, &stack),
    ];
    assert_eq!(folded(&file_of(&records, ALL_HAVE_ID)), "a;x_10 2\nb;x_10 2\n");
}

/// A round of any length fits into the memory for distinct stacks.
#[test]
fn more_stacks_than_are_kept_count_all() {
    const STACKS: u32 = 210_000;
    let name = at(1, &named(8, b"x\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"));
    let program = at(1, &mapped(0x1000, 0x1000, 0, b"/bin/x\0\0"));
    let address = |number: u32| 0x10_0000 + u64::from(number % STACKS);
    let samples = (0..STACKS + 1000)
        .map(|number| sample(8, 2 + u64::from(number), &[USER, 0x1010, address(number)]));
    let records: Vec<Vec<u8>> = [name, program].into_iter().chain(samples).collect();
    let expected = format!("x;[unknown];x_10 {}\n", STACKS + 1000);
    assert_eq!(folded(&file_of(&records, ALL_HAVE_ID)), expected);
}

#[test]
fn generated_code_is_in_no_file() {
    for path in
        ["//anon\0\0", "/memfd:vmem (deleted)\0\0\0", "/anon_hugepage (deleted)\0", "/dev/zero\0"]
    {
        let bytes = file(&[
            named(8, b"x\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"),
            mapped(0x9000, 0x1000, 0, path.as_bytes()),
            sample(8, 1, &[USER, 0x9000]),
        ]);
        assert_eq!(folded(&bytes), "x;lists:map/2 1\n", "{path}");
    }
}

/// Shared ids would let a file of a megabyte take gigabytes of memory.
#[test]
fn events_that_share_their_ids_are_refused() {
    let mut bytes = recording();
    let event = bytes[HEADER..HEADER + ATTRIBUTES].to_vec();
    let end = bytes.len() as u64;
    for _ in 0..2 {
        bytes.extend_from_slice(&event);
        bytes.extend(words_of(&[0, end]));
    }
    bytes[24..40].copy_from_slice(&words_of(&[end, 2 * (ATTRIBUTES as u64 + 16)]));
    check_refused(&bytes, &["share their ids"]);
}

#[test]
fn other_files_and_parts_of_files_are_refused() {
    check_refused(b"", &["not a perf.data"]);
    check_refused(b"\x7fELF and something more", &["not a perf.data"]);
    let whole = recording();
    check_refused(&whole[..whole.len() - 3], &["cut off", "the records", "copy it again"]);
    check_refused(&whole[..60], &["cut off", "header", "byte 104", "byte 60"]);
    let mut killed = whole.clone();
    killed[48..56].fill(0);
    check_refused(&killed, &["has no records", "killed"]);
    let mut short = whole;
    let at = usize::try_from(RECORDS_AT).unwrap();
    short[at + 6] = 4;
    check_refused(&short, &["broken at byte 184", "shorter than its own header"]);
}

#[test]
fn compressed_records_are_refused() {
    check_refused(&file(&[record(81, 0, &[0; 16])]), &["byte 184", "without -z"]);
    check_refused(&file(&[record(9, 0, &[0; 4])]), &["shorter than its stated size"]);
    check_refused(&file(&[record(68, 0, &[])]), &["no samples"]);
}

#[test]
fn copies_of_the_stack_are_said_not_to_be_unwound() {
    const STACK_USER: u64 = 1 << 13;
    let mut bytes = recording();
    let at = HEADER + 24;
    bytes[at..at + 8].copy_from_slice(&(SAMPLE_TYPE | STACK_USER).to_le_bytes());
    let profile = read(&bytes).unwrap();
    assert_eq!((profile.quality.not_unwound, profile.total()), (3, 3));
    let is_said = |profile: &Profile| {
        profile.capture.notes.iter().any(|note| note.contains("--call-graph dwarf"))
    };
    assert!(is_said(&profile));
    let usual = read(&recording()).unwrap();
    assert!(!is_said(&usual) && usual.quality.not_unwound == 0);
}
