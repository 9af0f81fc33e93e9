//! How often `diff` marks a change where there is none, on a real recording: `null_diffs PROFILE.pb.gz
//! [TRIES]`. Once with pairs drawn from its samples at random, once with pairs of halves made of its own
//! times, where what the node does by turns counts as well. The figures are in docs/profiling.md.

use std::{
    env,
    error::Error,
    fs::File,
    io::{BufReader, Write},
};

use rabbitscope_analysis::ProfileDiff;
use rabbitscope_data::profile::{Profile, Times, read_pprof};

/// Steps of 50 ms that stay together when time is dealt out.
const STEPS_OF_A_BLOCK: u32 = 20;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let input = arguments.next().ok_or("usage: null_diffs PROFILE.pb.gz [TRIES]")?;
    let tries: u64 = arguments.next().map_or(Ok(20), |text| text.parse())?;
    let profile = read_pprof(BufReader::new(File::open(input)?))?;
    let mut random = Random(7);
    let mut out = std::io::stdout().lock();
    for (name, by_block) in [("samples dealt out at random", false), ("seconds dealt out", true)] {
        let mut marked = 0;
        let mut functions = 0;
        for _ in 0..tries {
            let (before, after) = halves(&profile, by_block, &mut random);
            let diff = ProfileDiff::of(&before, &after)?;
            let found = diff.changes.iter().filter(|change| change.is_beyond_noise()).count();
            marked += u64::from(found > 0);
            functions += found;
        }
        writeln!(out, "{name}: {marked} of {tries} pairs marked, {functions} functions")?;
    }
    Ok(())
}

/// Every piece of time goes to one of two profiles, by the toss of a coin for itself or for its block.
fn halves(profile: &Profile, by_block: bool, random: &mut Random) -> (Profile, Profile) {
    let (mut before, mut after) = (profile.clone(), profile.clone());
    let blocks: Vec<bool> = (0..100_000).map(|_| random.toss()).collect();
    for (at, sample) in profile.samples.iter().enumerate() {
        let mut sides = [(0, 0, Times::default()), (0, 0, Times::default())];
        for (step, weight) in sample.times.iter() {
            let pieces = if profile.event.is_weighted() { 1 } else { weight };
            for _ in 0..pieces {
                let side = if by_block {
                    blocks[(step / STEPS_OF_A_BLOCK) as usize % blocks.len()]
                } else {
                    random.toss()
                };
                let (sum, count, times) = &mut sides[usize::from(side)];
                *sum += weight / pieces;
                *count += 1;
                times.add(step, weight / pieces);
            }
        }
        for (half, (weight, count, times)) in [&mut before, &mut after].into_iter().zip(sides) {
            let sample = &mut half.samples[at];
            (sample.weight, sample.count, sample.times) = (weight, count, times);
        }
    }
    for half in [&mut before, &mut after] {
        half.samples.retain(|sample| sample.weight > 0);
    }
    (before, after)
}

struct Random(u64);

impl Random {
    fn toss(&mut self) -> bool {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        self.0 >> 63 == 1
    }
}
