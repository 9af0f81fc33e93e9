//! Proves that a process is an Erlang VM: the file that it executes exports the functions for drivers and NIFs. The
//! program name (`argv[0]`) proves nothing. No memory of a process is read before this proof.

use std::{
    collections::HashMap,
    fs::File,
    io::{self, Read},
    os::fd::OwnedFd,
};

use object::{Object, ObjectKind, ObjectSymbol};
use rabbitscope_machine::process::first_argument;
use rustix::fs::{FileType, Mode, OFlags, ResolveFlags};

use crate::{
    error::ProbeError,
    permission::{NODE, raise},
};

/// Functions that every emulator exports, and no other program: libraries with drivers or NIFs are linked against
/// them.
const VM_EXPORTS: [&str; 2] = ["driver_output", "enif_make_atom"];

/// Largest readable file: a process may map any file.
const MAX_BYTES: u64 = 512 << 20;

/// Largest readable emulator; one with debug information has 30 MiB. `watch` reads the file of every process with
/// the name of a VM, and any user can start such a process.
const MAX_EMULATOR_BYTES: u64 = 64 << 20;

/// Limit for the memory of all symbols; an emulator with debug information needs a tenth of it.
const MAX_SYMBOL_BYTES: usize = 32 << 20;

/// Memory of a symbol besides its name.
const SYMBOL_BYTES: usize = 96;

/// Flags for opening a file. Opening never blocks, even if a node has put a terminal, pipe or device in a file's
/// place.
const READING: OFlags =
    OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// The executable of a VM.
#[derive(Debug)]
pub(crate) struct Image {
    /// Device and inode of the file.
    identity: (u64, u64),
    /// True if addresses in the file are relative to the load address.
    pub(crate) is_relocated: bool,
    /// Address and size of every symbol.
    pub(crate) symbols: HashMap<String, (u64, u64)>,
}

impl Image {
    /// The executable of the process `pid`. Fails if it is no VM.
    pub(super) fn read(pid: u32) -> Result<Self, ProbeError> {
        let path = format!("/proc/{pid}/exe");
        let opened = {
            // Without the capability, links of other users' processes cannot be followed. The file itself is opened
            // with the caller's own rights.
            let _raised = raise(NODE);
            rustix::fs::open(&path, READING, Mode::empty())
        };
        let read = opened.map_err(io::Error::from).and_then(emulator);
        let (identity, bytes) = read.map_err(ProbeError::io(format!("reading {path}")))?;
        let not_a_beam = || ProbeError::NotABeam {
            pid,
            program: first_argument(pid).unwrap_or_else(|| "a kernel thread".into()),
        };
        let file = object::File::parse(bytes.as_slice()).map_err(|_| not_a_beam())?;
        let symbols = symbols_of(&file);
        if !VM_EXPORTS.iter().all(|name| symbols.contains_key(*name)) {
            return Err(not_a_beam());
        }
        Ok(Self { identity, is_relocated: file.kind() == ObjectKind::Dynamic, symbols })
    }

    /// Returns whether `pid` executes this file now.
    pub(super) fn is_executed_by(&self, pid: u32) -> bool {
        let _raised = raise(NODE);
        let found = rustix::fs::stat(format!("/proc/{pid}/exe"));
        found.is_ok_and(|found| identity(found) == self.identity)
    }
}

/// The file's identity and its bytes; no bytes if it is too large for an emulator.
fn emulator(file: OwnedFd) -> io::Result<((u64, u64), Vec<u8>)> {
    let found = rustix::fs::fstat(&file)?;
    let is_small = u64::try_from(found.st_size).is_ok_and(|size| size <= MAX_EMULATOR_BYTES);
    let bytes = if is_small { contents(&regular(file)?)? } else { Vec::new() };
    Ok((identity(found), bytes))
}

fn identity(found: rustix::fs::Stat) -> (u64, u64) {
    (found.st_dev, found.st_ino)
}

/// The symbols of a file, within the limit of memory. Symbols may share a name, so that all names together can be
/// far longer than the file, and a file with nothing but symbols needs many times its size.
fn symbols_of(file: &object::File<'_>) -> HashMap<String, (u64, u64)> {
    let mut left = MAX_SYMBOL_BYTES;
    let defined =
        file.dynamic_symbols().chain(file.symbols()).filter(|symbol| !symbol.is_undefined());
    let named = defined.map_while(|symbol| {
        let name = symbol.name().unwrap_or_default();
        left = left.checked_sub(name.len() + SYMBOL_BYTES)?;
        // Some names include the version of their interface.
        let name = name.split('@').next().unwrap_or_default();
        Some((name.to_owned(), (symbol.address(), symbol.size())))
    });
    named.collect()
}

/// Opens a file below the node's root directory, with the caller's own rights. No link leads out of that directory
/// or into another process.
pub(super) fn open_below(root: &OwnedFd, path: &str) -> io::Result<File> {
    let within = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
    regular(rustix::fs::openat2(root, path, READING, Mode::empty(), within)?)
}

/// Opens a directory below the node's root directory as a path only, with the caller's own rights.
pub(super) fn directory_below(root: &OwnedFd, path: &str) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let within = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
    Ok(rustix::fs::openat2(root, path, flags, Mode::empty(), within)?)
}

/// Opens the file of a link in `/proc`.
pub(super) fn open_link(path: &str) -> io::Result<File> {
    let _raised = raise(NODE);
    regular(rustix::fs::open(path, READING, Mode::empty())?)
}

/// Refuses a file that is not regular or too large.
fn regular(file: OwnedFd) -> io::Result<File> {
    let found = rustix::fs::fstat(&file)?;
    let is_small = u64::try_from(found.st_size).is_ok_and(|size| size <= MAX_BYTES);
    if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile || !is_small {
        let reason = format!("it is no regular file of at most {} MiB", MAX_BYTES >> 20);
        return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
    }
    Ok(File::from(file))
}

/// All bytes of a file, even if it grows meanwhile.
pub(crate) fn contents(file: &File) -> io::Result<Vec<u8>> {
    let size = file.metadata()?.len().min(MAX_BYTES);
    // The buffer of a growing file has twice the size at times.
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
    file.take(MAX_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::{os::fd::OwnedFd, path::Path, process::Command};

    use super::{Image, MAX_EMULATOR_BYTES, emulator, open_below, symbols_of};
    use crate::error::ProbeError;

    #[test]
    fn this_program_is_no_vm() {
        let refused = Image::read(std::process::id()).unwrap_err();
        assert!(matches!(refused, ProbeError::NotABeam { .. }), "{refused}");
    }

    #[test]
    fn a_file_too_large_for_an_emulator_is_not_read() {
        let file = tempfile::tempfile().unwrap();
        let read = || emulator(file.try_clone().unwrap().into()).unwrap().1.len() as u64;
        for (bytes, expected) in [(7, 7), (MAX_EMULATOR_BYTES + 1, 0)] {
            file.set_len(bytes).unwrap();
            assert_eq!(read(), expected);
        }
    }

    #[test]
    fn a_file_of_nothing_but_symbols_takes_no_more_memory_than_it_may() {
        let mut bytes = elf(600_000, 8);
        let address_of_last = bytes.len() - 16;
        bytes[address_of_last..][..8].copy_from_slice(&7_u64.to_le_bytes());
        let file = object::File::parse(bytes.as_slice()).unwrap();
        // All share one name, so that the entry is the symbol that was read last.
        assert_eq!(symbols_of(&file)["xxxxxxxx"].0, 4096);
    }

    fn root_of(directory: &Path) -> OwnedFd {
        OwnedFd::from(std::fs::File::open(directory).unwrap())
    }

    #[test]
    fn only_files_of_the_node_are_opened() {
        let name = format!("rabbitscope-image-{}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        std::fs::create_dir_all(directory.join("inner")).unwrap();
        std::fs::write(directory.join("file"), "text").unwrap();
        let link = |to: &str, at: &str| {
            std::os::unix::fs::symlink(to, directory.join(at)).unwrap();
        };
        link("/file", "absolute");
        link("../../../../../../etc/hostname", "outwards");
        link("/proc/self/exe", "process");
        let pipe = directory.join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let root = root_of(&directory);
        assert!(open_below(&root, "/file").is_ok());
        assert!(open_below(&root, "/absolute").is_ok(), "links begin at the node's root");
        for refused in ["/outwards", "/process", "/pipe", "/inner", "/../file2"] {
            assert!(open_below(&root, refused).is_err(), "{refused}");
        }
        let all = root_of(Path::new("/"));
        assert!(open_below(&all, "/proc/self/exe").is_err(), "a link into a process");
        std::fs::remove_dir_all(&directory).unwrap();
    }

    /// An ELF file with `symbols` dynamic symbols that share one name of `name_bytes` bytes.
    fn elf(symbols: usize, name_bytes: usize) -> Vec<u8> {
        let word = |bytes: &mut Vec<u8>, value: u64| bytes.extend(value.to_le_bytes());
        let (strings_at, strings_size) = (64 + 3 * 64, name_bytes + 2);
        let symbols_at = strings_at + strings_size;
        let mut bytes = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0];
        bytes.resize(16, 0);
        bytes.extend([3, 0, 62, 0, 1, 0, 0, 0]);
        for value in [0, 0, 64] {
            word(&mut bytes, value);
        }
        bytes.extend([0, 0, 0, 0, 64, 0, 56, 0, 0, 0, 64, 0, 3, 0, 1, 0]);
        let mut section = |kind: u32, link: u32, offset: usize, size: usize, each: u64| {
            bytes.extend([0, 0, 0, 0]);
            bytes.extend(kind.to_le_bytes());
            for value in [0, 0, offset as u64, size as u64] {
                word(&mut bytes, value);
            }
            bytes.extend(link.to_le_bytes());
            bytes.extend([1, 0, 0, 0]);
            for value in [8, each] {
                word(&mut bytes, value);
            }
        };
        section(0, 0, 0, 0, 0);
        section(3, 0, strings_at, strings_size, 0);
        section(11, 1, symbols_at, 24 * (symbols + 1), 24);
        bytes.push(0);
        bytes.resize(bytes.len() + name_bytes, b'x');
        bytes.push(0);
        bytes.resize(bytes.len() + 24, 0);
        for _ in 0..symbols {
            bytes.extend([1, 0, 0, 0, 0x12, 0, 1, 0]);
            for value in [4096, u64::MAX] {
                word(&mut bytes, value);
            }
        }
        bytes
    }

    /// 100,000 names of 4 MB are 400 GB, which would take minutes to compare.
    #[test]
    fn names_that_symbols_share_are_not_read_without_end() {
        let began = std::time::Instant::now();
        let bytes = elf(100_000, 4 << 20);
        let file = object::File::parse(bytes.as_slice()).unwrap();
        assert_eq!(symbols_of(&file).len(), 1);
        assert!(began.elapsed().as_secs() < 10, "{:?}", began.elapsed());
    }

    #[test]
    fn a_symbol_keeps_the_size_that_its_file_states() {
        let mut bytes = elf(1, "erts_proc".len());
        let start = bytes.windows(9).position(|window| window == b"xxxxxxxxx").unwrap();
        bytes[start..start + 9].copy_from_slice(b"erts_proc");
        let file = object::File::parse(bytes.as_slice()).unwrap();
        let found = symbols_of(&file);
        assert_eq!(found["erts_proc"], (4096, u64::MAX));
    }
}
