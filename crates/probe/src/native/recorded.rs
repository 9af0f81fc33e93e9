//! Names for a recording of another program on this machine (perf): from the files that were mapped, from
//! the running kernel and from `/tmp/perf-PID.map`.

use std::{
    collections::{BTreeMap, HashMap},
    fs::File,
    os::fd::AsRawFd,
    path::Path,
};

use blazesym::{
    MaybeDefault,
    symbolize::{
        Input, Symbolizer,
        source::{Elf, Kernel, Source},
    },
};
use rabbitscope_profiles::CodeNames;

use rabbitscope_files::SymbolicLinks;

use super::{
    debug_file::DebugFile, limits::MAX_CODE_BYTES, names::symbol_tables_only,
    stripped::StrippedCode,
};

/// Limit for files of code that are open at the same time: far below the usual limit of a process (1,024),
/// and more than a recording of a node names.
const MAX_FILES: usize = 256;

/// Largest list of generated code that is read; that of a large node has some megabytes.
const MAX_MAP_BYTES: u64 = 64 << 20;

/// Names of the addresses of a recording.
pub struct RecordedNames {
    symbolizer: Symbolizer,
    kernel: Source<'static>,
    /// Files by path; `None` for those that may not be opened.
    files: HashMap<String, Option<File>>,
    debug_files: HashMap<String, Option<DebugFile>>,
    stripped: HashMap<String, StrippedCode>,
    generated: HashMap<u32, BTreeMap<u64, (u64, String)>>,
}

impl Default for RecordedNames {
    fn default() -> Self {
        let symbolizer = symbol_tables_only();
        let kernel = Kernel { vmlinux: MaybeDefault::None, debug_syms: false, ..Kernel::default() };
        Self {
            symbolizer,
            kernel: Source::Kernel(kernel),
            files: HashMap::new(),
            debug_files: HashMap::new(),
            stripped: HashMap::new(),
            generated: HashMap::new(),
        }
    }
}

impl RecordedNames {
    fn symbol(&self, source: &Source<'_>, input: Input<u64>) -> Option<String> {
        let found = self.symbolizer.symbolize_single(source, input).ok()?;
        Some(found.into_sym()?.name.into_owned())
    }

    fn in_debug_file(&mut self, path: &str, offset: u64) -> Option<String> {
        let code = self.files.get(path)?.as_ref()?;
        let open = |path: &str| rabbitscope_files::open(Path::new(path), MAX_CODE_BYTES);
        let find = || DebugFile::find(code, open);
        let debug = self.debug_files.entry(path.to_owned()).or_insert_with(find);
        debug.as_ref()?.name(&self.symbolizer, offset)
    }

    /// A function without a symbol is called as in our own recordings.
    fn nameless(&mut self, path: &str, offset: u64) -> Option<String> {
        let file = self.files.get(path)?.as_ref()?;
        let stripped =
            self.stripped.entry(path.to_owned()).or_insert_with(|| StrippedCode::read(file));
        let name = stripped.name(offset);
        Some(name.unwrap_or_else(|| stripped.nameless(path, offset).into_text()))
    }
}

impl CodeNames for RecordedNames {
    fn in_file(&mut self, path: &str, offset: u64) -> Option<String> {
        if !self.files.contains_key(path) {
            let is_full = self.files.len() >= MAX_FILES;
            let file = rabbitscope_files::open(Path::new(path), MAX_CODE_BYTES);
            self.files.insert(path.to_owned(), file.ok().filter(|_| !is_full));
        }
        let held = self.files.get(path)?.as_ref()?;
        let held = format!("/proc/self/fd/{}", held.as_raw_fd());
        let source = Source::Elf(Elf { debug_syms: false, ..Elf::new(held) });
        let own = self.symbol(&source, Input::FileOffset(offset));
        own.or_else(|| self.in_debug_file(path, offset)).or_else(|| self.nameless(path, offset))
    }

    fn in_kernel(&mut self, address: u64) -> Option<String> {
        self.symbol(&self.kernel, Input::AbsAddr(address))
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

/// Any user may have put a file of this name there, or a link.
fn read_map(pid: u32) -> std::io::Result<Vec<u8>> {
    let path = format!("/tmp/perf-{pid}.map");
    let file =
        rabbitscope_files::open_with(Path::new(&path), MAX_MAP_BYTES, SymbolicLinks::Refuse)?;
    rabbitscope_files::read_all(file, MAX_MAP_BYTES)
}

/// Lines of start, size and name, the numbers in hexadecimal digits. A later line for the same
/// place replaces an earlier one.
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
