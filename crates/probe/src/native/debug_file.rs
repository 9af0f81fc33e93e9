//! Symbols of debug packages: a distribution moves them out of a file of code into a file below
//! `/usr/lib/debug/.build-id` that is named after the build id of both.
//!
//! Only the symbol table is read, without lines and inlined functions. The caller opens the file.

use std::{fmt::Write, fs::File, io, os::fd::AsRawFd};

use blazesym::symbolize::{
    Input, Symbolizer,
    source::{Elf, Source},
};
use object::{Object, ObjectSegment, ReadCache};

const DIRECTORY: &str = "/usr/lib/debug/.build-id";

/// Valid lengths of a build id. The linker's have 20 bytes.
const BUILD_ID_BYTES: std::ops::RangeInclusive<usize> = 8..=64;

/// Symbols of a file of code without its own.
#[derive(Debug)]
pub(super) struct DebugFile {
    file: File,
    /// Segments of the code: offset in the file, address, size.
    segments: Vec<(u64, u64, u64)>,
}

impl DebugFile {
    /// Finds the debug file of `code`, which `open` opens by its path. `None` if its build id differs.
    pub(super) fn find(code: &File, open: impl Fn(&str) -> io::Result<File>) -> Option<Self> {
        let cache = ReadCache::new(code);
        let parsed = object::File::parse(&cache).ok()?;
        let build_id = parsed.build_id().ok()??;
        let file = open(&path_of(build_id)?).ok()?;
        if build_id_of(&file)? != build_id {
            return None;
        }
        let segments = parsed.segments().map(|segment| {
            let (offset, size) = segment.file_range();
            (offset, segment.address(), size)
        });
        let segments = segments.collect();
        Some(Self { file, segments })
    }

    /// The function at an offset of the file of code.
    pub(super) fn name(&self, symbolizer: &Symbolizer, offset: u64) -> Option<String> {
        let address = self.address_of(offset)?;
        let held = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        let source = Source::Elf(Elf { debug_syms: false, ..Elf::new(held) });
        let found = symbolizer.symbolize_single(&source, Input::VirtOffset(address)).ok()?;
        Some(found.into_sym()?.name.into_owned())
    }

    fn address_of(&self, offset: u64) -> Option<u64> {
        self.segments.iter().find_map(|&(start, address, size)| {
            let within = offset.checked_sub(start).filter(|&within| within < size)?;
            address.checked_add(within)
        })
    }
}

fn path_of(build_id: &[u8]) -> Option<String> {
    let (first, rest) =
        build_id.split_first().filter(|_| BUILD_ID_BYTES.contains(&build_id.len()))?;
    Some(format!("{DIRECTORY}/{first:02x}/{}.debug", hexadecimal(rest)))
}

/// The bytes as hexadecimal text, two digits each.
pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut digits, byte| {
        write!(digits, "{byte:02x}").expect("a text has room");
        digits
    })
}

/// The build id of an ELF file, in hexadecimal digits. `None` if it is no ELF file or has none.
pub fn build_id(file: &File) -> Option<String> {
    let bytes = build_id_of(file)?;
    BUILD_ID_BYTES.contains(&bytes.len()).then(|| hexadecimal(&bytes))
}

/// The build id of an ELF file.
pub(super) fn build_id_of(file: &File) -> Option<Vec<u8>> {
    let cache = ReadCache::new(file);
    let parsed = object::File::parse(&cache).ok()?;
    Some(parsed.build_id().ok()??.to_vec())
}

#[cfg(test)]
pub(super) mod tests {
    use std::{
        fs::{self, File},
        path::{Path, PathBuf},
        process::Command,
    };

    use blazesym::symbolize::Symbolizer;
    use object::{Object, ObjectSymbol};

    use super::{DebugFile, build_id_of, path_of};

    #[test]
    fn the_path_has_the_build_id() {
        let path = path_of(&[0x0a, 1, 2, 3, 4, 5, 6, 0xff]);
        assert_eq!(path.as_deref(), Some("/usr/lib/debug/.build-id/0a/010203040506ff.debug"));
        assert_eq!(path_of(&[1, 2, 3]), None);
        assert_eq!(path_of(&[1; 65]), None);
    }

    fn run(program: &str, arguments: &[&str], directory: &Path) {
        let done = Command::new(program).args(arguments).current_dir(directory).status();
        assert!(done.unwrap().success(), "{program} {arguments:?}");
    }

    /// A stripped library with a function that it does not export, its debug file, and the function's address.
    pub(in super::super) fn stripped(directory: &Path) -> (PathBuf, PathBuf, u64) {
        let source = "static int hidden(int n) { return n * 7 + 1; }\n\
                      int (*volatile called)(int) = hidden;\n\
                      int seen(int n) { return called(n); }\n";
        fs::write(directory.join("a.c"), source).unwrap();
        let options = ["-g", "-O1", "-shared", "-fPIC", "-Wl,--build-id", "-o", "a.so", "a.c"];
        run("cc", &options, directory);
        let bytes = fs::read(directory.join("a.so")).unwrap();
        let whole = object::File::parse(bytes.as_slice()).unwrap();
        let address =
            whole.symbols().find(|symbol| symbol.name() == Ok("hidden")).unwrap().address();
        run("objcopy", &["--only-keep-debug", "a.so", "a.debug"], directory);
        run("strip", &["a.so"], directory);
        (directory.join("a.so"), directory.join("a.debug"), address)
    }

    #[test]
    fn a_function_that_was_stripped_has_its_name() {
        let place = tempfile::tempdir().unwrap();
        let (code, debug, address) = stripped(place.path());
        let code = File::open(code).unwrap();
        let path = path_of(&build_id_of(&code).unwrap()).unwrap();
        let found = DebugFile::find(&code, |asked| {
            assert_eq!(asked, path);
            File::open(&debug)
        });
        let found = found.unwrap();
        let offset = found.segments.iter().find_map(|&(offset, start, size)| {
            (start..start + size).contains(&address).then(|| address - start + offset)
        });
        let symbolizer = Symbolizer::new();
        assert_eq!(found.name(&symbolizer, offset.unwrap() + 1).as_deref(), Some("hidden"));
        assert_eq!(found.name(&symbolizer, u64::MAX), None);
    }

    #[test]
    fn the_debug_file_of_another_build_is_none() {
        let place = tempfile::tempdir().unwrap();
        let (code, ..) = stripped(place.path());
        let other = || File::open(std::env::current_exe().unwrap());
        assert!(DebugFile::find(&File::open(code).unwrap(), |_| other()).is_none());
    }
}
