//! Makes a page of many deep stacks: `deep STACKS OUTPUT.html`. Each stack has 40 frames of 3,000 functions and shares
//! half of them with others, so that 130,000 stacks have about 2.5 million nodes. For `make bench-page`.

use std::{env, error::Error, fs::File, io::BufWriter};

use rabbitscope_profiles::{
    Frame, FrameId, FrameKind, Identity, Labels, Mode, Profile, Sample, StackEntry, StackOutcome,
    Times,
};
use rabbitscope_web::{Report, write_report};

const DEPTH: u64 = 40;
const FUNCTIONS: u64 = 3_000;
const PROCESSES: u64 = 3_000;

/// Steps of time, of 50 ms.
const STEPS: u64 = 7_200;
const STEP_NANOS: u64 = 50_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let (Some(stacks), Some(output)) = (arguments.next(), arguments.next()) else {
        return Err("usage: deep STACKS OUTPUT.html".into());
    };
    let profile = deep(stacks.parse()?);
    let report = Report { profile: Some(&profile), ..Report::default() };
    write_report(BufWriter::new(File::create(output)?), &report)?;
    Ok(())
}

fn deep(stacks: u64) -> Profile {
    let mut profile = Profile::default();
    profile.capture.duration_nanos = STEPS * STEP_NANOS;
    profile.capture.time_step_nanos = STEP_NANOS;
    let thread = Frame { name: "scheduler".to_owned(), kind: FrameKind::Thread };
    let thread = profile.frames.intern(thread);
    let frames: Vec<FrameId> = (0..FUNCTIONS)
        .map(|number| {
            let name = format!("a_module_{}:function_{number}/3", number / 20);
            profile.frames.intern(Frame { name, kind: FrameKind::Erlang })
        })
        .collect();
    for number in 0..PROCESSES {
        let identity = Identity {
            role: "queue".into(),
            name: format!("queue-{number}"),
            ..Identity::default()
        };
        profile.identities.insert(pid(number), identity);
    }
    profile.samples = (0..stacks).map(|number| sample(number, thread, &frames)).collect();
    profile.quality.complete = profile.total();
    profile
}

fn pid(number: u64) -> String {
    format!("<0.{}.0>", 500 + number)
}

fn sample(number: u64, thread: FrameId, frames: &[FrameId]) -> Sample {
    let entry = |frame| StackEntry { frame, repeat: 1 };
    let mut stack = vec![entry(thread)];
    // Every second frame divides the stacks into three; after 22 frames each stack is alone.
    let (mut rest, mut path) = (number, 1);
    for depth in 1..DEPTH {
        if depth % 2 == 0 {
            path = mixed(path * 3 + rest % 3);
            rest /= 3;
        }
        let number =
            usize::try_from(mixed(path + depth) % FUNCTIONS).expect("some thousand functions");
        StackEntry::push(&mut stack, frames[number], 1);
    }
    let points = 1 + mixed(number) % 6;
    let mut steps: Vec<u64> = (0..points).map(|point| mixed(number * 7 + point) % STEPS).collect();
    steps.sort_unstable();
    let mut times = Times::default();
    for step in steps {
        times.add(u32::try_from(step).expect("some thousand steps"), 1);
    }
    let labels = Labels {
        process: Some(pid(mixed(number) % PROCESSES).into()),
        thread: format!("{}_scheduler", 1 + number % 2).into(),
        mode: Mode::User,
        outcome: StackOutcome::Complete,
    };
    Sample { stack, labels, weight: points, count: points, times }
}

/// Returns a number that looks random and is the same each time (the end of `SplitMix64`).
fn mixed(number: u64) -> u64 {
    let number = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 20
}
