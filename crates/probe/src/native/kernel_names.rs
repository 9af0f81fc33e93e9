//! Names of the kernel's functions. There are more than a hundred thousand, so that all recorded nodes of a thread
//! share one list. The list is in order of address, and each entry has only its difference from the one before.

use std::{
    cell::RefCell,
    fs::File,
    io::{self, BufRead, BufReader, Read},
    rc::{Rc, Weak},
};

use rabbitscope_profiles::without_suffix;

use super::native_name::NativeName;
use crate::permission::{KERNEL_SYMBOLS, raise};

/// The kernel's own list (`man 5 proc_kallsyms`): address, type, name, and the module in brackets.
const LIST: &str = "/proc/kallsyms";

/// Limit for the size of the list, which has 10 MB in Debian's kernel.
const MAX_LIST_BYTES: u64 = 1 << 27;

/// Types of functions: global, local, and weak ones, which another definition may replace.
const FUNCTIONS: [&str; 4] = ["T", "t", "W", "w"];

thread_local! {
    /// The list of this thread, which lives as long as its last owner.
    static SHARED: RefCell<Weak<KernelNames>> = const { RefCell::new(Weak::new()) };
}

/// Functions per block: a look-up reads half of them on average.
const BLOCK_FUNCTIONS: usize = 64;

/// The kernel's own list of its functions.
#[derive(Debug, Default)]
pub(super) struct KernelNames {
    /// The first address of each block, and the block's index in `functions`.
    blocks: Vec<(u64, u32)>,
    /// Each function, by address: bytes from the function before (LEB128), the number of letters that its name
    /// shares with the name before, the rest of the name, and a newline. The first entry of a block is complete.
    functions: Vec<u8>,
}

impl KernelNames {
    /// The list of this thread. Reads it at first use, with the privilege for it.
    pub(super) fn shared() -> Rc<Self> {
        SHARED.with_borrow_mut(|shared| {
            shared.upgrade().unwrap_or_else(|| {
                let names = Rc::new(Self::of_this_kernel());
                *shared = Rc::downgrade(&names);
                names
            })
        })
    }

    /// Reads the list of the running kernel; empty if it is unreadable.
    fn of_this_kernel() -> Self {
        let _raised = raise(KERNEL_SYMBOLS);
        let list = File::open(LIST).map(|file| BufReader::new(file.take(MAX_LIST_BYTES)));
        list.and_then(Self::read).unwrap_or_default()
    }

    fn read(mut list: impl BufRead) -> io::Result<Self> {
        let (mut starts, mut texts) = (Vec::new(), String::new());
        let mut line = String::new();
        while list.read_line(&mut line)? > 0 {
            if let Some((address, name)) = function_in(&line) {
                starts.push((address, texts.len(), name.len()));
                texts.push_str(name);
            }
            line.clear();
        }
        starts.sort_unstable();
        let named = starts.into_iter().map(|(start, at, length)| (start, &texts[at..at + length]));
        Ok(Self::from_functions(named))
    }

    /// A list of functions in order of address.
    fn from_functions<'a>(functions: impl Iterator<Item = (u64, &'a str)>) -> Self {
        let mut names = Self::default();
        let mut before = (0, "");
        for (number, (start, name)) in functions.enumerate() {
            if number.is_multiple_of(BLOCK_FUNCTIONS) {
                let Ok(begin) = u32::try_from(names.functions.len()) else { break };
                names.blocks.push((start, begin));
                before = (start, "");
            }
            put(&mut names.functions, start - before.0);
            let shared = name.bytes().zip(before.1.bytes()).take_while(|(a, b)| a == b).count();
            let shared = u8::try_from(shared).unwrap_or(u8::MAX);
            names.functions.push(shared);
            names.functions.extend_from_slice(&name.as_bytes()[shared.into()..]);
            names.functions.push(b'\n');
            before = (start, name);
        }
        names.blocks.shrink_to_fit();
        names.functions.shrink_to_fit();
        names
    }

    /// The function at `address`: the last that begins at or before it.
    pub(super) fn name(&self, address: u64) -> NativeName {
        match self.find(address) {
            Some(name) => NativeName::Known(String::from_utf8_lossy(&name).into_owned()),
            None => NativeName::Unknown("kernel".into()),
        }
    }

    fn find(&self, address: u64) -> Option<Vec<u8>> {
        let after = self.blocks.partition_point(|&(start, _)| start <= address);
        let (mut start, begin) = self.blocks[after.checked_sub(1)?];
        let end = self.blocks.get(after).map_or(self.functions.len(), |next| next.1 as usize);
        let mut rest = &self.functions[begin as usize..end];
        let mut name = Vec::new();
        while !rest.is_empty() {
            start += take(&mut rest);
            if start > address {
                break;
            }
            let (&shared, after) = rest.split_first()?;
            let length = after.iter().position(|&byte| byte == b'\n')?;
            name.truncate(shared.into());
            name.extend_from_slice(&after[..length]);
            rest = &after[length + 1..];
        }
        Some(name)
    }
}

/// Address and name in a line of the list. Addresses are zero for a reader without the privilege.
fn function_in(line: &str) -> Option<(u64, &str)> {
    let mut fields = line.split_whitespace();
    let (address, kind, name) = (fields.next()?, fields.next()?, fields.next()?);
    let address = u64::from_str_radix(address, 16).ok().filter(|&address| address > 0)?;
    FUNCTIONS.contains(&kind).then(|| (address, without_suffix(name)))
}

fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    bytes.push(number.to_le_bytes()[0]);
}

fn take(bytes: &mut &[u8]) -> u64 {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let Some((&byte, rest)) = bytes.split_first() else { break };
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            break;
        }
    }
    number
}

#[cfg(test)]
mod tests {
    use super::{KernelNames, NativeName};

    #[test]
    fn functions_by_address_whatever_their_order() {
        let list = "ffffffff81000200 t do_it.isra.0\nffffffff81000000 T _stext\n\
                    ffffffff81000300 D jiffies\nffffffffc0001000 t send\t[net]\nshort\n";
        let names = KernelNames::read(list.as_bytes()).unwrap();
        let name = |address| match names.name(address) {
            NativeName::Known(name) => name,
            _ => "unknown".to_owned(),
        };
        assert_eq!(name(0xffff_ffff_8100_01ff), "_stext");
        assert_eq!(name(0xffff_ffff_8100_0340), "do_it", "data is no function");
        assert_eq!(name(0xffff_ffff_c000_1000), "send");
        assert_eq!(name(0x1000), "unknown");
    }

    #[test]
    fn every_function_of_many_blocks_is_found() {
        let functions: Vec<(u64, String)> = (0..1000_u64)
            .map(|number| (0xffff_ffff_8100_0000 + number * number * 16, format!("tcp_{number}")))
            .chain([(0xffff_ffff_c000_0000, "x".repeat(400)), (0xffff_ffff_c000_0000, "y".into())])
            .chain([(0xffff_ffff_c000_0008, format!("{}z", "x".repeat(300)))])
            .collect();
        let lines: Vec<String> =
            functions.iter().map(|(start, name)| format!("{start:x} t {name}\n")).collect();
        let list = lines.concat();
        let names = KernelNames::read(list.as_bytes()).unwrap();
        for (start, name) in functions.iter().filter(|(_, name)| name.len() < 400) {
            for address in [*start, start + 7] {
                let found = names.name(address);
                assert!(matches!(&found, NativeName::Known(found) if found == name), "{name}");
            }
        }
        assert!(matches!(names.name(functions[0].0 - 1), NativeName::Unknown(_)));
    }

    #[test]
    fn addresses_that_may_not_be_seen_are_none() {
        let names = KernelNames::read("0000000000000000 T _stext\n".as_bytes()).unwrap();
        assert!(matches!(names.name(u64::MAX), NativeName::Unknown(name) if name == "kernel"));
    }
}
