//! Pages written and read again, and pages that are refused.

use std::collections::BTreeMap;

use rabbitscope_profiles::{
    Event, Identity, LineWeight, Profile, ReadOptions, StackOutcome, ValueName, read_folded,
    write_folded,
};

use super::{PageError, is_page, read_page_with};
use crate::{Report, write_report};

const LIMIT: u64 = 1 << 20;

fn page_of(profile: &Profile) -> Vec<u8> {
    let mut page = Vec::new();
    write_report(&mut page, &Report { profile: Some(profile), ..Report::default() }).unwrap();
    page
}

fn read(page: &[u8]) -> Result<Profile, PageError> {
    read_page_with(page, ReadOptions::within(LIMIT))
}

fn example() -> Profile {
    let stacks = "scheduler;m:f/1;m:f/1;erts_garbage_collect;g 5\nscheduler;m:f/1;h_[k] 2\n\
                  scheduler;</script>;lists:map/2 4\naux;g 1";
    let mut profile = read_folded(stacks.as_bytes()).unwrap();
    profile.event = Event::Cpu;
    profile.capture.value = None;
    profile.capture.recorder = "eBPF".to_owned();
    profile.capture.time_step_nanos = 50_000_000;
    profile.quality.complete = 12;
    let identity = Identity {
        role: "queue".into(),
        name: "orders of </script>".into(),
        vhost: "a b".into(),
        connection: String::new(),
        client: "a <shop>, user guest".into(),
    };
    for (number, sample) in profile.samples.iter_mut().enumerate() {
        let number = u32::try_from(number).unwrap();
        let pid = format!("<0.{number}.0>");
        sample.labels.thread = format!("{number}_scheduler").into();
        sample.labels.outcome = StackOutcome::NoProcess;
        if number > 0 {
            sample.labels.outcome = StackOutcome::Complete;
            sample.labels.process = Some(pid.as_str().into());
            profile.identities.insert(pid, identity.clone());
        }
        sample.times.add(number, 1);
        sample.times.add(number + 300, sample.weight - 1);
    }
    let frame = profile.frames.iter().find(|(_, frame)| frame.name == "m:f/1").unwrap().0;
    profile.lines = vec![LineWeight { frame, file: "src/m.erl".into(), line: 7, own: 5, total: 6 }];
    profile
}

/// Returns everything about the samples, in an order that does not depend on numbers of frames.
fn described(profile: &Profile) -> BTreeMap<String, (u64, u64)> {
    let describe = |sample: &rabbitscope_profiles::Sample| {
        let stack =
            sample.stack.iter().map(|entry| (profile.frames.get(entry.frame), entry.repeat));
        let times: Vec<_> = sample.times.iter().filter(|(_, weight)| *weight > 0).collect();
        format!("{:?} {:?} {times:?}", stack.collect::<Vec<_>>(), sample.labels)
    };
    let samples = profile.samples.iter();
    samples.map(|sample| (describe(sample), (sample.weight, sample.count))).collect()
}

#[test]
fn a_page_is_a_profile() {
    let profile = example();
    let page = page_of(&profile);
    assert!(is_page(&page));
    let again = read(&page).unwrap();
    assert_eq!(described(&again), described(&profile));
    assert_eq!(again.identities, profile.identities);
    assert_eq!((again.event, again.quality), (profile.event, profile.quality));
    assert_eq!(again.capture, profile.capture);
    let line = &again.lines[0];
    let name = &again.frames.get(line.frame).name;
    assert_eq!((again.lines.len(), name.as_str()), (1, "m:f/1"));
    assert_eq!((&*line.file, line.line, line.own, line.total), ("src/m.erl", 7, 5, 6));
    // Labels are numbered in the order of the samples, which is that of the nodes from now on.
    let second = page_of(&again);
    assert_eq!(page_of(&read(&second).unwrap()), second);
    let folded = |profile: &Profile| {
        let mut out = Vec::new();
        write_folded(profile, &mut out).unwrap();
        out
    };
    assert_eq!(folded(&again), folded(&profile));
}

#[test]
fn a_foreign_value_keeps_its_name() {
    let mut profile = example();
    profile.event = Event::Imported;
    profile.capture.value = Some(ValueName::new("alloc_space", "bytes"));
    let page = page_of(&profile);
    assert_eq!(read(&page).unwrap().value_name(), "alloc_space");
    let asked =
        |value| read_page_with(&page[..], ReadOptions { limit_bytes: LIMIT, value: Some(value) });
    assert!(asked("alloc_space").is_ok());
    assert!(matches!(asked("cpu"), Err(PageError::Value(_))));
}

#[test]
fn what_has_no_profile_is_refused() {
    let text = |page: &[u8]| read(page).unwrap_err().to_string();
    let mut page = Vec::new();
    write_report(&mut page, &Report::default()).unwrap();
    assert!(matches!(read(&page), Err(PageError::NoProfile)));
    assert!(text(b"<!doctype html><p>").contains("no element `data`"));
    assert!(!is_page(b"<!doctype html><p>"));
    let page = page_of(&example());
    let changed = |from: &str, to: &str| {
        let at = super::elements::find(&page, from.as_bytes()).expect("the page has this text");
        [&page[..at], to.as_bytes(), &page[at + from.len()..]].concat()
    };
    assert!(text(&changed("\"version\":3", "\"version\":2")).contains("version 2"));
    assert!(text(&changed("id=\"columns\">", "id=\"columns\">AAAA")).contains("`gzip` is damaged"));
    assert!(text(&changed("\"threads\":[", "\"threads\":[],\"more\":[")).contains("unknown owner"));
    assert!(text(&changed("\"event\":\"cpu\"", "\"event\":\"gpu\"")).contains("event is unknown"));
    assert!(matches!(
        read_page_with(&page[..], ReadOptions::within(1000)),
        Err(PageError::TooLarge(_))
    ));
}

#[test]
fn many_records_of_a_deep_stack_have_a_limit() {
    let deep = (0..2_000).map(|depth| format!("f{}", depth % 7)).collect::<Vec<_>>().join(";");
    let mut profile = read_folded(format!("{deep} 1").as_bytes()).unwrap();
    for number in 0..200 {
        let mut sample = profile.samples[0].clone();
        sample.labels.process = Some(format!("<0.{number}.0>").into());
        profile.samples.push(sample);
    }
    assert!(matches!(read(&page_of(&profile)), Err(PageError::TooLarge(_))));
}
