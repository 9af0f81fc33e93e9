//! Runs the discovery on a node of the installed release, or of the release in `RABBITSCOPE_BROKER_ROOT`.

use std::io;

use rabbitscope_broker::Broker;
use rabbitscope_profiles::ThreadKind;
use rabbitscope_runs::scenario::ThrowawayBroker;

use super::{Exports, Looks, StaticData, discover};
use crate::{
    beam::{
        FunctionNames, FunctionPlace,
        emulator::{Inspected, emulator_text, exports_of, inspect, inspect_with},
        layout::{Layout, known},
        native_functions,
    },
    node::{Process, ReadMemory},
};

fn node() -> (Broker, Process) {
    let broker = Broker::start_with_own_log(&ThrowawayBroker::default()).unwrap();
    let process = Process::open(broker.pid).unwrap();
    (broker, process)
}

#[test]
fn the_discovery_finds_the_known_layout_even_without_exports() {
    let (_broker, process) = node();
    let Inspected { emulator, .. } = inspect(&process).unwrap();
    let known = known::of_release(&emulator.release);
    assert_eq!(Some(emulator.layout), known, "OTP {}", emulator.release);

    let (program, mappings) = (process.executable().unwrap(), process.mappings().unwrap());
    let hidden = inspect_with(&process, &Exports::default(), &mappings, &program).unwrap();
    assert_eq!(Some(hidden.emulator.layout), known);
    assert_eq!(hidden.emulator.jit_descriptor, emulator.jit_descriptor);
    assert_eq!(
        hidden.emulator.schedulers(&process).unwrap(),
        emulator.schedulers(&process).unwrap()
    );
    let bifs = |span: Option<(u64, u64)>| span.map(|(address, _)| address);
    assert_eq!(bifs(hidden.emulator.bif_table), bifs(emulator.bif_table));
    assert_eq!(hidden.emulator.release, emulator.release);
}

#[test]
fn the_vm_names_its_functions_as_it_exports_them() {
    let (_broker, process) = node();
    let Inspected { emulator, code } = inspect(&process).unwrap();
    let (program, mappings) = (process.executable().unwrap(), process.mappings().unwrap());
    let exports = exports_of(&process, &mappings, &program).unwrap();
    let mut functions = FunctionNames::new(&process, emulator.bif_table);
    let (start, text) = emulator_text(&process).unwrap();
    let told = native_functions(&process, &code, &mut functions, (start, &text));
    let (mut right, mut wrong) = (0, Vec::new());
    for function in &told {
        let FunctionPlace::Start(address) = function.place else { continue };
        let exported: Vec<&str> =
            exports.iter().filter(|(_, start)| *start == address).map(|(name, _)| name).collect();
        let name = function.name.trim_end_matches('?');
        match exported[..] {
            [] => {}
            _ if exported.contains(&name) => right += 1,
            _ => wrong.push((name, exported)),
        }
    }
    assert!(told.len() > 400, "{} names", told.len());
    assert!(told.iter().any(|function| function.name == "erts_schedule"), "{told:?}");
    assert!(wrong.len() * 50 <= right, "{right} right, wrong {wrong:?}");
}

/// The node's memory, with two words of every process exchanged.
struct Altered<'a> {
    process: &'a Process,
    processes: Vec<u64>,
    words: [u64; 2],
}

impl ReadMemory for Altered<'_> {
    fn read(&self, address: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.process.read(address, bytes)?;
        for process in &self.processes {
            let places = self.words.map(|word| process + 8 * word);
            for (place, other) in [(places[0], places[1]), (places[1], places[0])] {
                let Some(start) =
                    place.checked_sub(address).and_then(|offset| usize::try_from(offset).ok())
                else {
                    continue;
                };
                if let Some(word) = bytes.get_mut(start..start.saturating_add(8)) {
                    word.copy_from_slice(&self.process.word(other)?.to_le_bytes());
                }
            }
        }
        Ok(())
    }
}

#[test]
fn a_node_with_moved_fields_is_refused_or_read_correctly() {
    let (_broker, process) = node();
    let (program, mappings) = (process.executable().unwrap(), process.mappings().unwrap());
    let data = StaticData::read(&process, &mappings, &program);
    let none = Exports::default();
    let Inspected { emulator, code } = inspect(&process).unwrap();
    let threads = process.threads().unwrap();
    let threads: Vec<(ThreadKind, u32)> =
        threads.iter().map(|thread| ThreadKind::from_name(&thread.name)).collect();
    let true_layout = emulator.layout;
    let processes = table_entries(&process, &data);
    let looks = Looks { count: 1, ..Looks::LIVE };
    let (mut refused, mut followed) = (0, 0);
    for other in [1, 3, 12, 20, 31, 40, 50] {
        for field in [true_layout.id, true_layout.htop, true_layout.stop, true_layout.hend] {
            let words = [u64::from(field) / 8, other];
            let altered = Altered { process: &process, processes: processes.clone(), words };
            let found = discover(&altered, &none, &data, &code, &threads, looks);
            match found {
                Err(_) => refused += 1,
                Ok(found) => {
                    assert_eq!(found.layout, with_moved(true_layout, field, 8 * other));
                    followed += 1;
                }
            }
        }
    }
    assert!(refused > 0 && refused + followed == 28, "{refused} refused, {followed} followed");
}

/// The layout in which `field` and the field at `other` have changed places.
fn with_moved(layout: Layout, field: u32, other: u64) -> Layout {
    let other = u32::try_from(other).unwrap();
    let moved = |offset: u32| match offset {
        offset if offset == field => other,
        offset if offset == other => field,
        offset => offset,
    };
    // The code fixes the place of other fields, so that discovery follows these two only.
    Layout { id: moved(layout.id), hend: moved(layout.hend), ..layout }
}

fn table_entries(process: &Process, data: &StaticData) -> Vec<u64> {
    let is_process = |address: u64| {
        address.is_multiple_of(8) && process.word(address).is_ok_and(crate::beam::pids::is_pid)
    };
    let table = data.pointers(8).find(|word| {
        let entries = (0..512).map(|index| process.word(word.value + 8 * index).unwrap_or(1));
        let entries: Vec<u64> = entries.filter(|entry| *entry != 0).collect();
        entries.len() > 8
            && entries.iter().filter(|entry| is_process(**entry)).count() * 10 > 9 * entries.len()
    });
    let table = table.unwrap().value;
    let entries = (0..16_384).map_while(|index| process.word(table + 8 * index).ok());
    entries.filter(|entry| *entry != 0).collect()
}
