//! PerfTest and the conversion of its command lines by `--from-perftest`, on one broker: both leave the same objects.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    sync::Mutex,
    thread,
    time::{Duration, Instant},
};

use rabbitscope_broker::Broker;
use rabbitscope_testing::{Workbench, own_broker};

use super::{
    broker::{self, Place},
    lines,
    programs::{Running, convert, jars},
};

/// Number of command lines that are compared at the same time.
const AT_ONCE: usize = 3;

/// Time for both programs to reach their state on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn the_same_stands_on_the_broker() {
    let Some(jars) = jars() else { return };
    let broker = own_broker();
    broker::prepare(&broker);
    let waiting = Mutex::new(lines::COMPARED.iter().enumerate());
    let differing = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let next = waiting.lock().unwrap().next();
                    let Some((number, line)) = next else { return };
                    let compare = || compare(&broker, &jars, number, line);
                    let compared = catch_unwind(AssertUnwindSafe(compare))
                        .unwrap_or_else(|panic| Err(said_by(&*panic)));
                    if let Err(difference) = compared {
                        differing.lock().unwrap().push(format!("{line}:\n{difference}"));
                    }
                }
            });
        }
    });
    let differing = differing.into_inner().unwrap();
    assert!(differing.is_empty(), "{} differ:\n{}", differing.len(), differing.join("\n\n"));
}

/// Returns a panic's text. A line that fails in another way must not hide the differences of the others.
fn said_by(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    format!("  panicked: {}", text.unwrap_or("see above"))
}

fn compare(broker: &Broker, jars: &Path, number: usize, line: &str) -> Result<(), String> {
    let bench = Workbench::new("compared");
    bench.file("queues.txt", "file-1\nfile-2\nfile-3\nfile-4\n");
    bench.file("body.txt", "some-text");
    let has_pace = ["-r ", "-P ", "-vr "].iter().any(|option| line.contains(option));
    let on_purpose = lines::ON_PURPOSE.iter().find(|(of, _)| *of == line);
    let line = if has_pace { line.to_owned() } else { format!("{line} --rate 50") };
    let line = format!("{line} -z 600");
    let theirs = Place::new(broker, format!("theirs-{number}"));
    let ours = Place::new(broker, format!("ours-{number}"));
    let mut running = [
        Running::perf_test(&bench, jars, &line, &theirs),
        Running::rabbitscope(&bench, &line, &ours),
    ];
    let deadline = Instant::now() + PATIENCE;
    loop {
        let begun = [running[0].has_begun()?, running[1].has_begun()?];
        if begun == [true, true] {
            break;
        }
        if Instant::now() > deadline {
            let said = running.iter().map(Running::said).collect::<Vec<_>>().join("\n");
            return Err(format!("did not begin: {said}"));
        }
        thread::sleep(Duration::from_millis(50));
    }
    let keys = ["-k ", "-qp ", "-qf "].iter().any(|option| line.contains(option));
    let as_ours = |place: &Place<'_>| match on_purpose {
        None => stands(place, keys),
        Some((_, exchanged)) => {
            let ours =
                |line: String| exchanged.iter().fold(line, |line, (a, b)| line.replace(a, b));
            stands(place, keys).into_iter().map(ours).collect()
        }
    };
    let stood = same("beside each other", || (as_ours(&theirs), stands(&ours, keys)));
    let is_stale = on_purpose.is_some() && stands(&theirs, keys) == stands(&ours, keys);
    let sent = same("messages", || (theirs.messages(keys), ours.messages(keys)));
    running.into_iter().for_each(Running::end);
    let stays = same("afterwards", || (stands(&theirs, keys), stands(&ours, keys)));
    let stale = if is_stale { Err("  no longer differs".to_owned()) } else { Ok(()) };
    let errors: Vec<_> = [stood, sent, stays, stale].into_iter().filter_map(Result::err).collect();
    if errors.is_empty() { Ok(()) } else { Err(errors.join("\n")) }
}

/// Returns lines about the objects. Keys that PerfTest generates are left out.
fn stands(place: &Place<'_>, keys: bool) -> Vec<String> {
    let without_key = |line: String| match line.split_once(" by ") {
        Some((binding, _)) if !keys && line.starts_with("binding") => binding.to_owned(),
        _ => line,
    };
    place.standing().into_iter().map(without_key).collect()
}

/// Waits until both are the same.
fn same<I: IntoIterator<Item = String>>(
    what: &str,
    mut look: impl FnMut() -> (I, I),
) -> Result<(), String> {
    let deadline = Instant::now() + PATIENCE / 4;
    loop {
        let (theirs, ours) = look();
        let (theirs, ours): (Vec<_>, Vec<_>) =
            (theirs.into_iter().collect(), ours.into_iter().collect());
        if theirs == ours {
            return Ok(());
        }
        if Instant::now() > deadline {
            let (theirs, ours) = (only_here(&theirs, &ours), only_here(&ours, &theirs));
            return Err(format!("  {what}\n  PerfTest: {theirs}  rabbitscope: {ours}"));
        }
        thread::sleep(Duration::from_millis(300));
    }
}

fn only_here(here: &[String], there: &[String]) -> String {
    let only = here.iter().filter(|line| !there.contains(line)).map(|line| format!("    {line}"));
    let only: Vec<_> = only.collect();
    format!("{} lines, only here:\n{}\n", here.len(), only.join("\n"))
}

#[test]
fn what_perftest_cannot_do_is_refused() {
    let Some(jars) = jars() else { return };
    let bench = Workbench::new("refused");
    let broker = own_broker();
    broker::prepare(&broker);
    for (number, line) in lines::REFUSED.iter().enumerate() {
        let converted = convert(&bench, line);
        let said = String::from_utf8(converted.stderr).unwrap();
        assert_eq!(converted.status.code(), Some(2), "{line}: {said}");
        let place = Place::new(&broker, format!("refused-{number}"));
        let mut perf_test = Running::perf_test(&bench, &jars, line, &place);
        assert_ne!(perf_test.wait(), Some(0), "{line}: {}", perf_test.said());
    }
}

#[test]
fn perftest_runs_before_and_after_ours() {
    let Some(jars) = jars() else { return };
    let bench = Workbench::new("in-turn");
    let broker = own_broker();
    broker::prepare(&broker);
    for (number, line) in lines::IN_TURN.iter().enumerate() {
        let line = format!("{line} -C 20 -D 20 --rate 50 -z 20");
        let place = Place::new(&broker, format!("turn-{number}"));
        for turn in ["before", "ours", "after"] {
            let mut running = match turn {
                "ours" => Running::rabbitscope(&bench, &line, &place),
                _ => Running::perf_test(&bench, &jars, &line, &place),
            };
            assert_eq!(running.wait(), Some(0), "{line}, {turn}: {}", running.said());
            if turn == "ours" {
                let run = bench.json("out/run.json");
                assert!(run["load"]["consumed"].as_u64() >= Some(20), "{line}: {run:#}");
            }
        }
    }
}

#[test]
fn a_backlog_stays_for_those_who_come_later() {
    let bench = Workbench::new("backlog");
    let broker = own_broker();
    broker::prepare(&broker);
    let place = Place::new(&broker, "backlog".to_owned());
    for (line, count) in
        [("-y 0 -u pop -C 1000", "published"), ("-x 0 -p -u pop -D 1000", "consumed")]
    {
        let mut running = Running::rabbitscope(&bench, line, &place);
        assert_eq!(running.wait(), Some(0), "{line}: {}", running.said());
        let run = bench.json("out/run.json");
        assert_eq!(run["load"][count].as_u64(), Some(1000), "{line}: {run:#}");
    }
}
