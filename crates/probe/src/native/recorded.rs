//! Names for a recording by another program on this machine (perf): from the mapped files, from the running kernel
//! and from `/tmp/perf-PID.map`. Another build of a file, or another kernel, never gives a name.

use std::{
    collections::{BTreeMap, HashMap},
    os::fd::AsRawFd,
    path::Path,
    time::SystemTime,
};

use blazesym::{
    MaybeDefault,
    symbolize::{
        Input, Symbolizer,
        source::{Elf, Kernel, Source},
    },
};
use rabbitscope_profiles::{CodeNames, RecordedFile, RecordedKernel};

use rabbitscope_files::SymbolicLinks;

use super::{
    debug_file::DebugFile, limits::MAX_CODE_BYTES, names::symbol_tables_only,
    recorded_files::CodeFiles, running_kernel, stripped::StrippedCode,
};

/// Largest readable list of generated code; that of a large node has some megabytes.
const MAX_MAP_BYTES: u64 = 64 << 20;

/// Names of the addresses of a recording.
pub struct RecordedNames {
    symbolizer: Symbolizer,
    kernel: Source<'static>,
    /// True if the running kernel is the recorded one; `None` before the first look.
    is_this_kernel: Option<bool>,
    files: CodeFiles,
    debug_files: HashMap<RecordedFile, Option<DebugFile>>,
    stripped: HashMap<RecordedFile, StrippedCode>,
    generated: HashMap<u32, BTreeMap<u64, (u64, String)>>,
}

impl RecordedNames {
    /// Names for a recording whose file was last written at this time. Without the time, files without a build id
    /// must be the same inode.
    pub fn new(recorded: Option<SystemTime>) -> Self {
        let symbolizer = symbol_tables_only();
        let kernel = Kernel { vmlinux: MaybeDefault::None, debug_syms: false, ..Kernel::default() };
        Self {
            symbolizer,
            kernel: Source::Kernel(kernel),
            is_this_kernel: None,
            files: CodeFiles::new(recorded),
            debug_files: HashMap::new(),
            stripped: HashMap::new(),
            generated: HashMap::new(),
        }
    }

    /// Files that have changed since the recording or are gone, so that their functions have no names.
    pub fn changed_files(&self) -> Vec<String> {
        self.files.changed()
    }

    /// Returns whether names of the kernel were wanted, but another kernel was recorded.
    pub fn is_other_kernel(&self) -> bool {
        self.is_this_kernel == Some(false)
    }

    fn symbol(&self, source: &Source<'_>, input: Input<u64>) -> Option<String> {
        let found = self.symbolizer.symbolize_single(source, input).ok()?;
        Some(found.into_sym()?.name.into_owned())
    }

    fn in_debug_file(&mut self, recorded: &RecordedFile, offset: u64) -> Option<String> {
        let code = self.files.get(recorded)?;
        let open = |path: &str| rabbitscope_files::open(Path::new(path), MAX_CODE_BYTES);
        let find = || DebugFile::find(code, open);
        let debug = self.debug_files.entry(recorded.clone()).or_insert_with(find);
        debug.as_ref()?.name(&self.symbolizer, offset)
    }

    /// The name of a function without a symbol, as in our own recordings.
    fn nameless(&mut self, recorded: &RecordedFile, offset: u64) -> Option<String> {
        let file = self.files.get(recorded)?;
        let stripped =
            self.stripped.entry(recorded.clone()).or_insert_with(|| StrippedCode::read(file));
        let name = stripped.name(offset);
        Some(name.unwrap_or_else(|| stripped.nameless(&recorded.path, offset).into_text()))
    }
}

impl CodeNames for RecordedNames {
    fn in_file(&mut self, file: &RecordedFile, offset: u64) -> Option<String> {
        let held = self.files.get(file)?;
        let held = format!("/proc/self/fd/{}", held.as_raw_fd());
        let source = Source::Elf(Elf { debug_syms: false, ..Elf::new(held) });
        let own = self.symbol(&source, Input::FileOffset(offset));
        own.or_else(|| self.in_debug_file(file, offset)).or_else(|| self.nameless(file, offset))
    }

    fn in_kernel(&mut self, kernel: &RecordedKernel, address: u64) -> Option<String> {
        let is_this = *self.is_this_kernel.get_or_insert_with(|| running_kernel::is(kernel));
        is_this.then(|| self.symbol(&self.kernel, Input::AbsAddr(address))).flatten()
    }

    fn generated(&mut self, pid: u32, address: u64) -> Option<String> {
        let map = self.generated.entry(pid).or_insert_with(|| {
            let text = read_map(pid).unwrap_or_default();
            parse_map(&String::from_utf8_lossy(&text))
        });
        let (_, (end, name)) = map.range(..=address).next_back()?;
        (address < *end).then(|| name.clone())
    }
}

/// Reads the list of generated code. Refuses links: any user can create a file or link of this name.
fn read_map(pid: u32) -> std::io::Result<Vec<u8>> {
    let path = format!("/tmp/perf-{pid}.map");
    let file =
        rabbitscope_files::open_with(Path::new(&path), MAX_MAP_BYTES, SymbolicLinks::Refuse)?;
    rabbitscope_files::read_all(file, MAX_MAP_BYTES)
}

/// Parses lines of start, size and name, with numbers in hexadecimal digits. A later line for the same place
/// replaces an earlier one.
fn parse_map(text: &str) -> BTreeMap<u64, (u64, String)> {
    let number = |word: &str| u64::from_str_radix(word.trim_start_matches("0x"), 16).ok();
    let parse = |line: &str| {
        let mut words = line.splitn(3, ' ');
        let start = number(words.next()?)?;
        let end = start.checked_add(number(words.next()?)?)?;
        Some((start, (end, words.next()?.to_owned())))
    };
    text.lines().filter_map(parse).collect()
}

#[cfg(test)]
mod tests {
    use super::parse_map;

    #[test]
    fn a_line_has_start_size_and_name() {
        let map = parse_map("0x7fe0 68 $lists:map/2\n7ff0 10 $a b\nbroken\n0x1 zz x\n");
        let all: Vec<_> = map.iter().map(|(start, (end, name))| (*start, *end, &**name)).collect();
        assert_eq!(all, [(0x7fe0, 0x8048, "$lists:map/2"), (0x7ff0, 0x8000, "$a b")]);
    }
}
