//! Names for a recording that another program made on this machine: from the files that were mapped,
//! from the running kernel, and from `/tmp/perf-PID.map`.

use std::{
    collections::{BTreeMap, HashMap},
    fs,
    path::Path,
};

use blazesym::{
    MaybeDefault,
    symbolize::{
        Input, Symbolizer,
        source::{Elf, Kernel, Source},
    },
};
use rabbitscope_data::profile::CodeNames;

use super::function_starts::FunctionStarts;

/// Looks up addresses of a recording.
pub struct RecordedNames {
    symbolizer: Symbolizer,
    kernel: Source<'static>,
    starts: HashMap<String, Option<FunctionStarts>>,
    generated: HashMap<u32, BTreeMap<u64, (u64, String)>>,
}

impl Default for RecordedNames {
    fn default() -> Self {
        let symbolizer = Symbolizer::builder()
            .enable_auto_reload(false)
            .enable_code_info(false)
            .enable_inlined_fns(false)
            .build();
        let kernel = Kernel { vmlinux: MaybeDefault::None, debug_syms: false, ..Kernel::default() };
        Self {
            symbolizer,
            kernel: Source::Kernel(kernel),
            starts: HashMap::new(),
            generated: HashMap::new(),
        }
    }
}

impl RecordedNames {
    fn symbol(&self, source: &Source<'_>, input: Input<u64>) -> Option<String> {
        let found = self.symbolizer.symbolize_single(source, input).ok()?;
        Some(found.into_sym()?.name.into_owned())
    }

    /// A function without a symbol is called by its file and the place where it begins, as in our
    /// own recordings.
    fn nameless(&mut self, path: &str, offset: u64) -> Option<String> {
        let starts = self.starts.entry(path.to_owned()).or_insert_with(|| {
            let file = Path::new(path);
            file.is_file().then(|| FunctionStarts::read(file))
        });
        let start = starts.as_ref()?.at(offset)?;
        let file = path.rsplit('/').next().unwrap_or(path);
        Some(format!("{file}+{start:#x}"))
    }
}

impl CodeNames for RecordedNames {
    fn in_file(&mut self, path: &str, offset: u64) -> Option<String> {
        let source = Source::Elf(Elf { debug_syms: true, ..Elf::new(path) });
        self.symbol(&source, Input::FileOffset(offset)).or_else(|| self.nameless(path, offset))
    }

    fn in_kernel(&mut self, address: u64) -> Option<String> {
        self.symbol(&self.kernel, Input::AbsAddr(address))
    }

    fn generated(&mut self, pid: u32, address: u64) -> Option<String> {
        let map = self.generated.entry(pid).or_insert_with(|| {
            let text = fs::read(format!("/tmp/perf-{pid}.map")).unwrap_or_default();
            parse_map(&String::from_utf8_lossy(&text))
        });
        let (_, (end, name)) = map.range(..=address).next_back()?;
        (address < *end).then(|| name.clone())
    }
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
