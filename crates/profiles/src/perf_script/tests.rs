use super::*;
use crate::{Event, FrameKind, Mode, ReadOptions, write_folded};

const TEXT: &str = "\
1_scheduler 17464 13069.947953:     333444 cpu-clock:pppH: 
\t    7fe4bbaa1430 $rabbit_channel:noreply/1+0x0 (/tmp/perf-17430.map)
\t    7fe4bbe019c8 $proc_lib:init_p_do_apply/3+0xb0 (/tmp/perf-17430.map)

Web Content 17/18 [001]  1.5:     333444 cpu-clock:pppH: 
\tffffffff821f26e7 exc_page_fault+0xd7 ([kernel.kallsyms])
\t          2030da [unknown] (/usr/lib/erlang/bin/beam.smp)
\t               0 [unknown] ([unknown])

1_scheduler 17464 13069.948000:     333444 cpu-clock:pppH: 
\t    7fe4bbaa1430 $rabbit_channel:noreply/1+0x0 (/tmp/perf-17430.map)
\t    7fe4bbe019c8 $proc_lib:init_p_do_apply/3+0xb0 (/tmp/perf-17430.map)

";

fn folded(text: &str) -> String {
    let profile = read_perf_script(text.as_bytes()).unwrap();
    let mut out = Vec::new();
    write_folded(&profile, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(folded(text), expected);
}

#[track_caller]
fn check_refused(text: &str, expected: &str) {
    let error = read_perf_script(text.as_bytes()).unwrap_err().to_string();
    assert!(error.starts_with(expected), "{error}");
}

#[test]
fn equal_stacks_are_counted() {
    check(
        TEXT,
        "Web Content;[unknown];[beam.smp];exc_page_fault_[k] 1\n\
         scheduler;proc_lib:init_p_do_apply/3;rabbit_channel:noreply/1 2\n",
    );
    let profile = read_perf_script(TEXT.as_bytes()).unwrap();
    assert_eq!((profile.event, profile.capture.period_nanos), (Event::Cpu, 333_444));
    let kinds: Vec<_> = profile.frames.iter().map(|(_, frame)| frame.kind).collect();
    assert!(kinds.contains(&FrameKind::Erlang) && kinds.contains(&FrameKind::Thread));
    let modes: Vec<Mode> = profile.samples.iter().map(|sample| sample.labels.mode).collect();
    assert!(modes.contains(&Mode::Kernel) && modes.contains(&Mode::User));
}

#[test]
fn a_sample_without_a_chain_has_its_frame_on_its_line() {
    check(
        "      beam.smp     9  1.000001:     1 cycles:  7f00 memcpy+0x1 (/lib/libc.so.6)\n",
        "other;memcpy 1\n",
    );
}

#[test]
fn arguments_of_tracepoints_do_no_harm() {
    let text = "x 1/2 [000] 1.000001: syscalls:sys_enter_mmap: addr: 0x00000000, len: 0x00001000, \
                prot: (a b)\n\t7f00 mmap (/lib/libc.so.6)\n\n";
    let profile = read_perf_script(text.as_bytes()).unwrap();
    assert_eq!((profile.event, profile.total()), (Event::Mmap, 4096));
    check(text, "x;mmap 4096\n");
}

#[test]
fn the_first_event_is_taken_and_others_are_said() {
    let text = "x 1 1.0: 1 cycles: \n\t1 f (a)\n\nx 1 1.1: 1 page-faults: \n\t1 g (a)\n\n";
    check(text, "x;f 1\n");
    let notes = read_perf_script(text.as_bytes()).unwrap().capture.notes;
    assert!(notes.iter().any(|note| note.contains("1 of page-faults")), "{notes:?}");
}

#[test]
fn other_text_is_refused_with_its_line() {
    check_refused("", "there are no samples");
    check_refused("a;b;c 12\n", "line 1: neither the beginning of a sample");
    check_refused("x 1 1.0: 1 cycles: \n\t1 f (a)\n\nhello\n", "line 4: neither");
}

/// A missing line break may mean that text is missing.
#[test]
fn the_last_line_break_may_be_missing() {
    check("x 1 1.0: 1 cycles: \n\t1 f (a)", "x;f 1\n");
    let notes = read_perf_script(&b"x 1 1.0: 1 cycles: \n\t1 f (a)"[..]).unwrap().capture.notes;
    assert!(notes.iter().any(|note| note.contains("without a line break")), "{notes:?}");
}

#[test]
fn periods_are_weights() {
    let sample =
        |period: u32, name: &str| format!("x 1 {period} page-faults: \n\t1 {name} (a)\n\n");
    let text = [sample(90, "f"), sample(9, "g"), sample(1, "g")].concat();
    check(&text, "x;f 90\nx;g 10\n");
    let profile = read_perf_script(text.as_bytes()).unwrap();
    assert_eq!((profile.value_name(), profile.unit()), ("page-faults", "faults"));
}

#[test]
fn kinds_of_cores_are_one_event() {
    let text =
        "x 1 1.0: 7 cpu_atom/cycles/: \n\t1 f (a)\n\nx 1 1.1: 9 cpu_core/cycles/: \n\t1 f (a)\n\n";
    check(text, "x;f 16\n");
}

#[test]
fn an_event_can_be_chosen() {
    let text = "x 1 1.0: 1 cycles: \n\t1 f (a)\n\nx 1 1.1: 1 page-faults: \n\t1 g (a)\n\n";
    let read = |value| {
        let options = ReadOptions { value: Some(value), ..ReadOptions::within(1 << 20) };
        read_perf_script_with(text.as_bytes(), options)
    };
    let faults = read("page-faults").unwrap();
    assert_eq!((faults.event, faults.total(), faults.frames.len()), (Event::PageFaults, 1, 2));
    assert!(read("x").unwrap_err().to_string().contains("`cycles`, `page-faults`"));
}

#[test]
fn such_text_is_recognised() {
    assert!(is_perf_script(TEXT.as_bytes()));
    assert!(is_perf_script(b"# captured on : today\n#\nx 1 1.0: 1 cycles: \n"));
    assert!(!is_perf_script(b"a;b;c 12\n"));
    assert!(!is_perf_script(b"\x7fELF"));
}
