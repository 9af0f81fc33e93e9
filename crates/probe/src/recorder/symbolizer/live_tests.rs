//! Compares stacks built with remembered steps and stacks built anew, on samples of a busy node.

use std::{thread::sleep, time::Duration};

use rabbitscope_broker::Broker;
use rabbitscope_profiles::{Event, FrameTable, LineWeight, Sample, StackQuality};
use rabbitscope_runs::scenario::ThrowawayBroker;

use super::{
    Detail, NodeCode, Symbolizer,
    frames::{AddressKind, Frames},
};
use crate::{
    beam::{Emulator, Inspected, inspect},
    kernel_interface::{BLOCKS_PER_CHUNK, KernelTime, ROWS_PER_CHUNK, RawSample},
    native::{Alignment, Tables},
    node::Process,
    recorder::{
        ebpf::EbpfSampler,
        jit_segments::jit_code,
        sampler::{FetchedSample, Request, Sampler, Target},
    },
};

/// Work of ten seconds: recursion, BIFs and NIFs, garbage, files and sockets.
const BUSY: &str = "Deep = fun F(0) -> []; F(N) -> [integer_to_binary(N) | F(N - 1)] end, \
    Work = fun G() -> lists:sort(Deep(200)), ets:tab2list(ac_tab), erlang:md5(Deep(50)), \
        {ok, _} = file:read_file(code:which(lists)), inet:getifaddrs(), G() end, \
    [begin P = spawn(Work), timer:kill_after(10000, P) end || _ <- [1, 2]], ok.";

/// Samples of a busy node, each with its time step.
fn samples(process: &Process, node: NodeCode<'_>, emulator: &Emulator) -> Vec<(RawSample, u32)> {
    let request = Request { events: &[Event::Cpu], freq_hz: 999 };
    let mappings = process.mappings().unwrap();
    let alignment = Alignment { rows: ROWS_PER_CHUNK, blocks: BLOCKS_PER_CHUNK };
    let target = Target {
        process,
        emulator,
        code: node.code,
        schedulers: &emulator.schedulers(process).unwrap(),
        jit: jit_code(node.code, &mappings),
        unwind: &Tables::new(alignment).refresh(process, &mappings),
        heap_end: 0,
    };
    let mut sampler = EbpfSampler::attach(&target, request, None).unwrap();
    sampler.begin(KernelTime::now()).unwrap();
    sleep(Duration::from_secs(2));
    let mut fetched = Vec::new();
    let mut keep = |sample: FetchedSample<'_>| fetched.push((*sample.raw, sample.first_step));
    sampler.fetch(KernelTime::now(), &mut keep).unwrap();
    fetched
}

/// Adds the samples to a window, and ends it.
fn window(
    symbolizer: &mut Symbolizer,
    samples: &[(RawSample, u32)],
    node: NodeCode<'_>,
    emulator: &Emulator,
    before_each: impl Fn(&mut Symbolizer),
) -> (FrameTable, Vec<Sample>, StackQuality, Vec<LineWeight>) {
    for (raw, first_step) in samples {
        before_each(symbolizer);
        let sample = FetchedSample { event: Event::Cpu, raw, first_step: *first_step };
        symbolizer.add(&sample, node);
    }
    let (mut frames, samples, quality) = symbolizer.take_event(Event::Cpu, &emulator.pids);
    let lines = symbolizer.lines_of_event(Event::Cpu, node.code, &mut frames);
    symbolizer.begin_window();
    (frames, samples, quality, lines)
}

#[test]
fn remembered_steps_change_no_profile() {
    let broker = Broker::start_with_own_log(&ThrowawayBroker::default()).unwrap();
    let process = Process::open(broker.pid).unwrap();
    let Inspected { emulator, code } = inspect(&process).unwrap();
    let node = NodeCode { code: &code, process: &process };
    broker.eval(BUSY).unwrap();
    let samples = samples(&process, node, &emulator);
    assert!(samples.len() > 500, "{} samples", samples.len());

    let symbolizer = || Symbolizer::new(node, &emulator, Detail::Lines);
    let (mut one, mut other) = (symbolizer(), symbolizer());
    for _ in 0..2 {
        let remembered = window(&mut one, &samples, node, &emulator, |_| ());
        let anew = window(&mut other, &samples, node, &emulator, Symbolizer::code_changed);
        assert!(remembered.0.iter().eq(anew.0.iter()), "functions");
        assert!(remembered.1 == anew.1, "samples");
        assert_eq!(remembered.2, anew.2);
        assert!(remembered.3 == anew.3, "lines");
        assert!(!remembered.3.is_empty() && remembered.1.len() > 100);
    }
    check_unmapped(node);
}

/// An address without a mapping may be in one that is newer than the last read. Only the address that caused that
/// read keeps its name.
fn check_unmapped(node: NodeCode<'_>) {
    let mut frames = Frames::new(node.process, Vec::new());
    let mut is_lasting =
        |address| frames.by_address(address, AddressKind::NativeInstruction, node).is_lasting;
    assert_eq!([0x1000, 0x2000, 0x2000, 0x1000].map(&mut is_lasting), [true, false, false, true]);
    frames.begin_fetch();
    let mut is_lasting =
        |address| frames.by_address(address, AddressKind::NativeInstruction, node).is_lasting;
    assert_eq!([0x2000, 0x3000].map(&mut is_lasting), [true, false]);
}
