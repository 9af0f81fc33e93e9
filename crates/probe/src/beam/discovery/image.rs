//! The memory of a small VM, built by the rules that the discovery relies on, with its fields at any offsets that a
//! test chooses.

use std::io;

use rabbitscope_profiles::ThreadKind;

use super::{Exports, Looks, StaticData, discover, discover::Discovered, evidence::Unclear};
use crate::{
    arch::machine::{calls, schedule},
    beam::{CodeMap, layout::Layout},
    node::ReadMemory,
};

const EXECUTABLE: u64 = 0x5500_0000_0000;
const VARIABLES: u64 = EXECUTABLE + 0x2_0000;
const VARIABLE_BYTES: usize = 0x4000;
const JIT: u64 = 0x7f00_0000_0000;
const ENTRIES: u64 = 0x7f10_0000_0000;
const PROCESSES: u64 = 0x7f20_0000_0000;
const STACKS: u64 = 0x7f30_0000_0000;
const BLOCKS: u64 = 0x7f40_0000_0000;
const REGISTERS: u64 = 0x7f50_0000_0000;
/// Bytes between the registers of two schedulers.
const REGISTERS_APART: u64 = 0x400;
const LIST: u64 = 0x7f60_0000_0000;

/// Previous contents of an entry's memory. The VM does not clear the link before the first entry.
const UNWRITTEN: u64 = 0x7f70_0000_0040;

const DESCRIPTOR_AT: u64 = VARIABLES + 0x100;
const TABLE_AT: u64 = VARIABLES + 0x200;
const POINTERS_AT: u64 = VARIABLES + 0x300;
const BIFS_AT: u64 = VARIABLES + 0x1000;

const NORMAL_EXIT: u64 = JIT + 0x800;
const TABLE_BITS: u32 = 10;
const LINE_BITS: u32 = 3;
const PROCESS_BYTES: u64 = 0x400;
const STACK_BYTES: u64 = 0x200;
const KIND_BYTES: u64 = 16 << 20;

/// The parameters of a VM.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    pub(super) layout: Layout,
    /// Schedulers, dirty CPU schedulers and dirty I/O schedulers.
    pub(super) counts: [u64; 3],
    pub(super) processes: u64,
    /// True if a pid contains its index in the table, false if it has the index beside itself.
    pub(super) has_place_within: bool,
    /// True if the first scheduler runs a process.
    pub(super) is_busy: bool,
}

/// Memory as a list of areas.
#[derive(Clone, Debug, Default)]
pub(super) struct Image {
    areas: Vec<(u64, Vec<u8>)>,
    threads: Vec<(ThreadKind, u32)>,
}

impl ReadMemory for Image {
    fn read(&self, address: u64, bytes: &mut [u8]) -> io::Result<()> {
        let found = self.areas.iter().find_map(|(start, area)| {
            let at = usize::try_from(address.checked_sub(*start)?).ok()?;
            area.get(at..at.checked_add(bytes.len())?)
        });
        bytes.copy_from_slice(found.ok_or(io::ErrorKind::InvalidInput)?);
        Ok(())
    }
}

impl Image {
    pub(super) fn build(plan: &Plan) -> Self {
        let mut image = Self::default();
        image.add(VARIABLES, VARIABLE_BYTES);
        image.add_code(plan);
        image.add_processes(plan);
        image.add_schedulers(plan);
        image.add_bifs();
        image
    }

    /// The layout that the discovery finds in this memory.
    pub(super) fn discovered(&self) -> Result<Discovered, Unclear> {
        let data = self.data();
        let none = Exports::default();
        let Some((descriptor, _)) = super::find_jit_list(self, &none, &data)? else {
            return Err(Unclear::new("list", "there is none"));
        };
        let code = CodeMap::read(self, descriptor, 0)
            .map_err(|error| Unclear::new("list", error.to_string()))?;
        let looks = Looks { count: 1, pause: std::time::Duration::ZERO };
        discover(self, &none, &data, &code, &self.threads, looks)
    }

    fn data(&self) -> StaticData {
        let mut data = StaticData::default();
        data.set_span(EXECUTABLE, VARIABLES + VARIABLE_BYTES as u64);
        let variables = self.areas.iter().find(|(start, _)| *start == VARIABLES);
        data.add(VARIABLES, true, variables.expect("every image has them").1.clone());
        data
    }

    /// Overwrites a word in any area.
    pub(super) fn set(&mut self, address: u64, value: u64) {
        let (start, area) = self
            .areas
            .iter_mut()
            .find(|(start, area)| (*start..*start + area.len() as u64).contains(&address))
            .expect("a part of the image");
        let at = usize::try_from(address - *start).expect("within the area");
        area[at..at + 8].copy_from_slice(&value.to_le_bytes());
    }

    /// Exchanges two fields of every process.
    #[cfg(test)]
    pub(super) fn swap_in_processes(&mut self, one: u32, other: u32) {
        let area = self.areas.iter().find(|(start, _)| *start == PROCESSES);
        let end = PROCESSES + area.expect("every image has them").1.len() as u64;
        let count = (end - PROCESSES) / PROCESS_BYTES;
        for process in (0..count).map(|number| PROCESSES + PROCESS_BYTES * number) {
            let places = [one, other].map(|offset| process + u64::from(offset));
            let [first, second] = places.map(|place| self.word(place).expect("it is there"));
            self.set(places[0], second);
            self.set(places[1], first);
        }
    }

    /// Adds a second table with the same processes.
    #[cfg(test)]
    pub(super) fn copy_the_table(&mut self) {
        const COPY: u64 = ENTRIES + (1 << 30);
        let entries = self.areas.iter().find(|(start, _)| *start == ENTRIES);
        let entries = entries.expect("every image has it").1.clone();
        self.add_bytes(COPY, entries);
        self.set(POINTERS_AT + 0x80, COPY);
    }

    /// Addresses of all words that may be altered.
    pub(super) fn places(&self) -> Vec<u64> {
        let words = |(start, area): &(u64, Vec<u8>)| {
            (*start..*start + area.len() as u64).step_by(8).collect::<Vec<u64>>()
        };
        self.areas.iter().flat_map(words).collect()
    }

    fn add(&mut self, start: u64, bytes: usize) {
        self.areas.push((start, vec![0; bytes.next_multiple_of(8)]));
    }

    fn add_bytes(&mut self, start: u64, mut bytes: Vec<u8>) {
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        self.areas.push((start, bytes));
    }

    /// Adds the fragment that switches between processes, and the list that names it.
    fn add_code(&mut self, plan: &Plan) {
        let Layout { registers, stop, htop, .. } = plan.layout;
        let mut code = schedule::fragment(registers, stop, htop);
        code.resize(0x1000, 0x90);
        self.add_bytes(JIT, code);
        let module =
            module(&[(0, 0x400, "global::process_main"), (0x800, 0x900, "global::process_exit")]);
        let mut emulator = vec![0; 16];
        emulator.extend(NORMAL_EXIT.to_le_bytes());
        let (first, second, blobs) = (LIST, LIST + 0x40, LIST + 0x100);
        let mut list = vec![0; 0x400];
        let mut put = |at: u64, bytes: &[u8]| {
            let at = usize::try_from(at - LIST).expect("within the list");
            list[at..at + bytes.len()].copy_from_slice(bytes);
        };
        put(first, &words(&[second, UNWRITTEN, blobs, emulator.len() as u64]));
        put(second, &words(&[0, first, blobs + 0x40, module.len() as u64]));
        put(blobs, &emulator);
        put(blobs + 0x40, &module);
        self.add_bytes(LIST, list);
        for (at, word) in (0..).step_by(8).zip([1 | 1 << 32, first, first]) {
            self.set(DESCRIPTOR_AT + at, word);
        }
    }

    fn add_processes(&mut self, plan: &Plan) {
        let size = 1_u64 << TABLE_BITS;
        self.add(ENTRIES, 8 * usize::try_from(size).expect("a thousand"));
        let lines = u64::from(TABLE_BITS - LINE_BITS);
        let masks = [(1 << TABLE_BITS) - 1, (1 << lines) - 1, (1 << LINE_BITS) - 1];
        let head =
            [ENTRIES, 0, size, masks[0], masks[1], masks[2], u64::from(LINE_BITS) | lines << 32];
        for (at, word) in (0..).step_by(8).zip(head) {
            self.set(TABLE_AT + at, word);
        }
        self.add(PROCESSES, usize::try_from(PROCESS_BYTES * plan.processes).expect("small"));
        self.add(STACKS, usize::try_from(STACK_BYTES * plan.processes).expect("small"));
        for number in 0..plan.processes {
            self.add_process(plan, number);
        }
    }

    fn add_process(&mut self, plan: &Plan, number: u64) {
        let (process, heap) = (PROCESSES + PROCESS_BYTES * number, STACKS + STACK_BYTES * number);
        let place = 8 * number % (1 << TABLE_BITS);
        let term =
            if plan.has_place_within { place << 4 | 3 } else { place << 32 | number << 4 | 3 };
        let hend = heap + STACK_BYTES;
        self.set(ENTRIES + 8 * place, process);
        let Layout { id, htop, stop, hend: end, .. } = plan.layout;
        // A parent is a pid as well, but not the process's own.
        self.set(process + 0x1f0, 0x13);
        let fields = [(htop, heap + 0x40), (stop, hend - 0x20), (end, hend), (id, term)];
        for (offset, word) in fields {
            self.set(process + u64::from(offset), word);
        }
        self.set(hend - 8, NORMAL_EXIT);
        self.set(hend - 0x20, JIT + 0x900 + 8);
    }

    fn add_schedulers(&mut self, plan: &Plan) {
        let kinds = [ThreadKind::Scheduler, ThreadKind::DirtyCpu, ThreadKind::DirtyIo];
        self.add(REGISTERS, 0x1_0000);
        for (kind, count) in (0..).zip(plan.counts) {
            let base = BLOCKS + KIND_BYTES * kind;
            let bytes = plan.layout.scheduler_stride * count + 0x400;
            self.add(base, usize::try_from(bytes).expect("small"));
            self.set(POINTERS_AT + 8 * kind, base);
            for at in 0..count {
                self.add_scheduler(plan, kind, at, base + at * plan.layout.scheduler_stride);
                let number = u32::try_from(at + 1).expect("a few");
                self.threads.push((kinds[usize::try_from(kind).expect("three")], number));
            }
        }
    }

    fn add_scheduler(&mut self, plan: &Plan, kind: u64, at: u64, block: u64) {
        let Layout { registers, scheduler_type, number, dirty_number, current_process, .. } =
            plan.layout;
        let own = if kind == 0 { number } else { dirty_number };
        self.set(block + u64::from(own), at + 1);
        self.set(block + u64::from(scheduler_type), kind);
        if kind == 0 {
            let place = REGISTERS + REGISTERS_APART * (at + 1);
            self.set(block + u64::from(registers), place);
            for (address, word) in calls::call_of_c(place, JIT + 0x100 + 8 * at) {
                self.set(address, word);
            }
            if plan.is_busy && at == 0 {
                self.set(block + u64::from(current_process), PROCESSES);
            }
        }
    }

    fn add_bifs(&mut self) {
        for number in 0..200 {
            let record =
                [0x0b | number << 6, 0x4b | number << 6, number % 4, EXECUTABLE + 16 * number];
            for (at, word) in (0..).step_by(8).zip(record) {
                self.set(BIFS_AT + 40 * number + at, word);
            }
        }
    }
}

/// The table of a module, in the VM's format.
fn module(ranges: &[(u32, u32, &str)]) -> Vec<u8> {
    let mut bytes = vec![1, 0, 0, 0, 0, 0, 0, 0];
    bytes.extend(JIT.to_le_bytes());
    bytes.extend(u32::try_from(ranges.len()).expect("a few").to_le_bytes());
    bytes.extend([0, 0x10, 0, 0, 2, 0, b'm', 0]);
    bytes.extend([0; 6]);
    for (start, end, name) in ranges {
        for word in [*start, *end, 0] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(u16::try_from(name.len() + 1).expect("short").to_le_bytes());
        bytes.extend(name.as_bytes());
        bytes.extend([0; 3]);
    }
    bytes
}

fn words(all: &[u64]) -> Vec<u8> {
    all.iter().flat_map(|word| word.to_le_bytes()).collect()
}
