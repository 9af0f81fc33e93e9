//! Recorded tables of nodes, and invalid ones.

use std::io;

use super::{Blob, JitError, Line, Range, ReadMemory, is_first_entry, parse};

/// The table of a small module on an OTP 25 node.
const PG2: &[u8] = b"\x01\0\0\0\xc5\x7f\0\0\x80o\x88\x97\xc2\x7f\0\0\x06\0\0\0\xd0\x03\0\0\
    \x04\0pg2\0\0\0@/\x90\x14\0\0\0\0\xd0\0\0\0\0\0\0\0\x10\0pg2::codeHeader\0\x85\x14\
    \xd0\0\0\0\0\x01\0\0\0\0\0\0#\0pg2:module_info/0-CodeInfoPrologue\0U\0\
    \0\x01\0\0`\x01\0\0\0\0\0\0\x12\0pg2:module_info/0\0\0\0\
    `\x01\0\0\x90\x01\0\0\0\0\0\0#\0pg2:module_info/1-CodeInfoPrologue\0\0\0\
    \x90\x01\0\0\xf2\x01\0\0\0\0\0\0\x12\0pg2:module_info/1\0\0\0\
    \xf2\x01\0\0\xd0\x03\0\0\0\0\0\0\x10\0pg2::codeFooter\0\xc2\x7f";

fn ranges(bytes: &[u8]) -> Vec<Range> {
    match parse(bytes).unwrap() {
        Blob::Module { ranges, .. } => ranges,
        Blob::Emulator { .. } => panic!("a module was expected"),
    }
}

#[test]
fn a_recorded_module() {
    let ranges = ranges(PG2);
    let names: Vec<&str> = ranges.iter().map(|range| range.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "pg2",
            "pg2:module_info/0",
            "pg2:module_info/0",
            "pg2:module_info/1",
            "pg2:module_info/1",
            "pg2"
        ]
    );
    assert_eq!(ranges[2].start, 0x7fc2_9788_6f80 + 0x100);
    assert_eq!(ranges[2].end, 0x7fc2_9788_6f80 + 0x160);
}

/// The next entry is at the end of the address space. Found by the fuzz target `memory_image`.
#[test]
fn an_entry_with_a_successor_beyond_all_memory_is_none() {
    struct Entry([u64; 4]);
    impl ReadMemory for Entry {
        fn read(&self, _: u64, bytes: &mut [u8]) -> io::Result<()> {
            let all: Vec<u8> = self.0.iter().flat_map(|word| word.to_le_bytes()).collect();
            bytes.copy_from_slice(all.get(..bytes.len()).ok_or(io::ErrorKind::InvalidInput)?);
            Ok(())
        }
    }
    let next = u64::MAX - 4;
    assert!(!is_first_entry(&Entry([next, 0, 0x1000, 64]), 0x2000));
}

#[test]
fn a_recorded_emulator_entry() {
    let mut bytes = vec![0, 0, 0, 0, 0x78, 0x55, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    bytes.extend(0x7fc2_d700_0c30_u64.to_le_bytes());
    bytes.extend([0; 8]);
    assert_eq!(
        parse(&bytes).unwrap(),
        Blob::Emulator { frame_layout: 0, normal_exit: 0x7fc2_d700_0c30 }
    );
}

/// A table with one function and two lines of two files, in the VM's format.
fn with_lines() -> Vec<u8> {
    let mut bytes = Vec::new();
    let text = |bytes: &mut Vec<u8>, text: &str| {
        bytes.extend(u16::try_from(text.len() + 1).unwrap().to_le_bytes());
        bytes.extend(text.as_bytes());
        bytes.push(0);
    };
    bytes.extend([1, 0, 0, 0, 0, 0, 0, 0]);
    bytes.extend(0x1000_u64.to_le_bytes());
    bytes.extend([1, 0, 0, 0, 64, 0, 0, 0]);
    text(&mut bytes, "m");
    bytes.extend([0; 6]);
    for number in [8_u32, 40, 2] {
        bytes.extend(number.to_le_bytes());
    }
    text(&mut bytes, "m:f/1");
    bytes.extend([0; 2]);
    for (start, line, file) in [(6_u32, 3_u32, "m.erl"), (24, 12, "m.hrl")] {
        bytes.extend(start.to_le_bytes());
        bytes.extend(line.to_le_bytes());
        text(&mut bytes, file);
        bytes.extend([0; 2]);
    }
    bytes
}

#[test]
fn lines_of_a_function() {
    let Blob::Module { ranges, files } = parse(&with_lines()).unwrap() else { panic!() };
    assert_eq!(files, ["m.erl", "m.hrl"]);
    let line = |start, number, file| Line { start, file, number };
    assert_eq!(ranges[0].lines, [line(0x1006, 3, 0), line(0x1018, 12, 1)]);
}

#[test]
fn every_cut_of_a_table_is_refused() {
    for table in [PG2, &with_lines()] {
        for length in 0..table.len() {
            assert!(parse(&table[..length]).is_err(), "{length} bytes");
        }
    }
}

#[test]
fn a_count_that_the_bytes_cannot_hold_is_refused_without_reserving_for_it() {
    let mut bytes = PG2.to_vec();
    bytes[16..20].copy_from_slice(&u32::MAX.to_le_bytes());
    assert!(matches!(parse(&bytes), Err(JitError::Truncated { .. })));
}
