//! Names of the kernel's functions. There are more than a hundred thousand, so that all nodes that are recorded on a thread
//! share one list, with its names in one text.

use std::{
    cell::RefCell,
    fs::File,
    io::{self, BufRead, BufReader, Read},
    rc::{Rc, Weak},
};

use rabbitscope_profiles::source_name;

use super::native_name::NativeName;
use crate::permission::{KERNEL_SYMBOLS, raise};

/// The kernel's own list (`man 5 proc_kallsyms`): address, type, name, and in brackets the module that it is of.
const LIST: &str = "/proc/kallsyms";

/// Limit of what is read of it; the list of Debian's kernel has 10 MB.
const MAX_LIST_BYTES: u64 = 1 << 27;

/// Types of functions, global and local, and of those that another definition may replace.
const FUNCTIONS: [&str; 4] = ["T", "t", "W", "w"];

thread_local! {
    /// The list that somebody on this thread has. It goes with the last who has it.
    static SHARED: RefCell<Weak<KernelNames>> = const { RefCell::new(Weak::new()) };
}

/// The kernel's own list of its functions.
#[derive(Debug, Default)]
pub(super) struct KernelNames {
    /// Address of each function and where its name begins in `texts`, by address.
    starts: Vec<(u64, u32)>,
    /// Each name ends with a line.
    texts: String,
}

impl KernelNames {
    /// Reads the list while the privilege is there, or takes the one that was read on this thread.
    pub(super) fn shared() -> Rc<Self> {
        SHARED.with_borrow_mut(|shared| {
            shared.upgrade().unwrap_or_else(|| {
                let names = Rc::new(Self::of_this_kernel());
                *shared = Rc::downgrade(&names);
                names
            })
        })
    }

    /// Empty where the list cannot be read.
    fn of_this_kernel() -> Self {
        let _raised = raise(KERNEL_SYMBOLS);
        let list = File::open(LIST).map(|file| BufReader::new(file.take(MAX_LIST_BYTES)));
        list.and_then(Self::read).unwrap_or_default()
    }

    fn read(mut list: impl BufRead) -> io::Result<Self> {
        let mut names = Self::default();
        let mut line = String::new();
        while list.read_line(&mut line)? > 0 {
            names.add(&line);
            line.clear();
        }
        names.starts.sort_unstable();
        names.starts.shrink_to_fit();
        names.texts.shrink_to_fit();
        Ok(names)
    }

    /// Addresses are zero for who may not see them.
    fn add(&mut self, line: &str) {
        let mut fields = line.split_whitespace();
        let (Some(address), Some(kind), Some(name)) = (fields.next(), fields.next(), fields.next())
        else {
            return;
        };
        let address = u64::from_str_radix(address, 16).unwrap_or(0);
        let Ok(begin) = u32::try_from(self.texts.len()) else { return };
        if address > 0 && FUNCTIONS.contains(&kind) {
            self.starts.push((address, begin));
            self.texts.push_str(source_name(name));
            self.texts.push('\n');
        }
    }

    /// The function at `address`: the last that begins before it.
    pub(super) fn name(&self, address: u64) -> NativeName {
        let after = self.starts.partition_point(|&(start, _)| start <= address);
        let found =
            after.checked_sub(1).and_then(|at| self.texts.get(self.starts[at].1 as usize..));
        match found.and_then(|rest| rest.lines().next()) {
            Some(name) => NativeName::Known(name.to_owned()),
            None => NativeName::Unknown("kernel".into()),
        }
    }
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
    fn addresses_that_may_not_be_seen_are_none() {
        let names = KernelNames::read("0000000000000000 T _stext\n".as_bytes()).unwrap();
        assert!(matches!(names.name(u64::MAX), NativeName::Unknown(name) if name == "kernel"));
    }
}
