//! Makes a page like that of a six-minute recording of a node with 3,000 queues and 20,000 processes. It repeats a real
//! recording: `repeated INPUT.pb.gz OUTPUT.html`. For `make bench-page`.

use std::{
    collections::HashSet,
    env,
    error::Error,
    fs::File,
    io::{BufReader, BufWriter},
};

use rabbitscope_profiles::{
    Frame, FrameKind, Identity, Profile, Sample, StackEntry, Times, read_pprof,
};
use rabbitscope_web::{Report, write_report};

const STACKS: usize = 100_000;
const SECONDS: u64 = 360;
const STEP_NANOS: u64 = 50_000_000;

/// Samples of 999 Hz on two CPUs.
const SAMPLES: u64 = SECONDS * 2 * 999;
const QUEUES: u64 = 3_000;
const PROCESSES: u64 = 20_000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let (Some(input), Some(output)) = (arguments.next(), arguments.next()) else {
        return Err("usage: repeated INPUT.pb.gz OUTPUT.html".into());
    };
    let once = read_pprof(BufReader::new(File::open(input)?))?;
    let profile = repeated(once)?;
    let report = Report { profile: Some(&profile), ..Report::default() };
    write_report(BufWriter::new(File::create(output)?), &report)?;
    Ok(())
}

fn repeated(mut profile: Profile) -> Result<Profile, &'static str> {
    let stacks: HashSet<Vec<StackEntry>> =
        profile.samples.drain(..).map(|sample| sample.stack).collect();
    let stacks: Vec<Vec<StackEntry>> = stacks.into_iter().filter(|stack| stack.len() > 3).collect();
    if stacks.is_empty() {
        return Err("the recording has no stacks to repeat");
    }
    let mut chance = Chance(1);
    profile.identities = (0..PROCESSES).map(|number| (pid(number), identity(number))).collect();
    profile.capture.duration_nanos = SECONDS * 1_000_000_000;
    profile.capture.time_step_nanos = STEP_NANOS;
    for number in 0..STACKS {
        let stack = varied(&stacks[number % stacks.len()], number / stacks.len(), &mut profile);
        let mut sample = Sample {
            stack,
            labels: labels(&mut chance),
            weight: 0,
            count: 0,
            times: Times::default(),
        };
        let mut steps: Vec<u32> = (0..SAMPLES / STACKS as u64).map(|_| chance.step()).collect();
        steps.sort_unstable();
        for step in steps {
            sample.times.add(step, 1);
            sample.weight += 1;
            sample.count += 1;
        }
        profile.samples.push(sample);
    }
    profile.quality.complete = profile.total();
    Ok(profile)
}

/// Returns the stack with an extra function two thirds down.
fn varied(stack: &[StackEntry], copy: usize, profile: &mut Profile) -> Vec<StackEntry> {
    let name = format!("repeated:copy_{copy}/1");
    let frame = profile.frames.intern(Frame { name, kind: FrameKind::Erlang });
    let mut varied = stack.to_vec();
    varied.insert(stack.len() * 2 / 3, StackEntry { frame, repeat: 1 });
    varied
}

fn pid(number: u64) -> String {
    format!("<0.{}.0>", 500 + number)
}

fn identity(number: u64) -> Identity {
    let connection = format!("127.0.0.1:{} -> 127.0.0.1:5672", 1024 + number % 4_000);
    let (role, name, connection) = match number {
        queue if queue < QUEUES => ("queue", format!("queue-{queue}"), String::new()),
        channel if channel % 2 == 0 => ("channel", format!("{connection} (1)"), connection),
        _ => ("reader", connection.clone(), connection),
    };
    Identity {
        role: role.to_owned(),
        name,
        vhost: "/".to_owned(),
        connection,
        ..Identity::default()
    }
}

fn labels(chance: &mut Chance) -> rabbitscope_profiles::Labels {
    use rabbitscope_profiles::{Labels, Mode, StackOutcome};
    Labels {
        process: Some(pid(chance.below(PROCESSES)).into()),
        thread: "1_scheduler".into(),
        mode: Mode::User,
        outcome: StackOutcome::Complete,
    }
}

/// Numbers that look random and are the same each time (Knuth's MMIX generator).
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn step(&mut self) -> u32 {
        let steps = SECONDS * 1_000_000_000 / STEP_NANOS;
        u32::try_from(self.below(steps)).expect("some thousand steps")
    }
}
