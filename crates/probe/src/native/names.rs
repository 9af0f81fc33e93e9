//! Names of native and kernel functions.
//!
//! The mappings are read while the node lives and addresses are looked up by file and offset, so
//! that names can still be given after the node has gone.

use std::{
    cell::{OnceCell, RefCell},
    collections::HashMap,
    fs::File,
    os::fd::AsRawFd,
    path::PathBuf,
};

use blazesym::{
    MaybeDefault,
    symbolize::{
        Input, Symbolizer,
        source::{Elf, Kernel, Source},
    },
};
use object::{Object, ObjectSymbol};
use rabbitscope_data::profile::source_name;

use super::function_starts::FunctionStarts;
use crate::node::{Mapping, Process, ReadMemory};

/// Looks up native code of one node, and of the kernel.
pub(crate) struct NativeNames {
    symbolizer: Symbolizer,
    kernel: Source<'static>,
    mappings: Vec<Mapping>,
    files: HashMap<String, CodeFile>,
    vdso: OnceCell<Vec<(u64, u64, String)>>,
    starts: RefCell<HashMap<String, FunctionStarts>>,
}

/// Where the code of a mapping can be read.
struct CodeFile {
    /// Through the node's own root.
    outside: PathBuf,
    /// The file itself, if it may be opened, whatever becomes of node and path.
    held: Option<File>,
}

/// A name, or the best that can be said without one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NativeName {
    /// From a symbol table.
    Known(String),
    /// `module+0x1234`, or the address.
    Unknown(String),
}

impl NativeNames {
    /// A symbolizer for `process`.
    pub(crate) fn new(process: &Process) -> Self {
        let symbolizer = Symbolizer::builder()
            .enable_auto_reload(false)
            .enable_code_info(false)
            .enable_inlined_fns(false)
            .build();
        let kernel = Kernel { vmlinux: MaybeDefault::None, debug_syms: false, ..Kernel::default() };
        let mut names = Self {
            symbolizer,
            kernel: Source::Kernel(kernel),
            mappings: Vec::new(),
            files: HashMap::new(),
            vdso: OnceCell::new(),
            starts: RefCell::default(),
        };
        names.refresh(process);
        names
    }

    /// Reads the mappings again; keeps the old ones when the node has gone.
    pub(crate) fn refresh(&mut self, process: &Process) {
        let Ok(mappings) = process.mappings() else { return };
        if mappings.is_empty() {
            return;
        }
        self.mappings = mappings.into_iter().filter(|mapping| mapping.executable).collect();
        for mapping in self.mappings.iter().filter(|mapping| mapping.path.starts_with('/')) {
            self.files.entry(mapping.path.clone()).or_insert_with(|| CodeFile {
                outside: process.outside_path(&mapping.path),
                held: process.mapped_file(mapping).ok(),
            });
        }
        if self.vdso.get().is_none()
            && let Some(symbols) = self.read_vdso(process)
        {
            // Set once and never changed: every process of a machine has the same one.
            let _ = self.vdso.set(symbols);
        }
    }

    /// Whether some mapping holds `address`.
    pub(crate) fn is_mapped(&self, address: u64) -> bool {
        self.mapping_of(address).is_some()
    }

    /// The native function at `address`.
    pub(crate) fn user(&self, address: u64) -> NativeName {
        let Some(mapping) = self.mapping_of(address) else {
            return NativeName::Unknown(format!("{address:#x}"));
        };
        let offset = address - mapping.start + mapping.file_offset;
        if mapping.path == "[vdso]" {
            return self.vdso_name(address - mapping.start);
        }
        let path = self.readable_path(&mapping.path);
        let source = Source::Elf(Elf { debug_syms: true, ..Elf::new(path) });
        match self.symbolizer.symbolize_single(&source, Input::FileOffset(offset)) {
            Ok(found) => match found.into_sym() {
                Some(symbol) => NativeName::Known(source_name(&symbol.name).to_owned()),
                None => self.nameless(&mapping.path, offset),
            },
            Err(_) => self.nameless(&mapping.path, offset),
        }
    }

    /// A function without a symbol is called by its file and the place where it begins.
    fn nameless(&self, path: &str, offset: u64) -> NativeName {
        let mut starts = self.starts.borrow_mut();
        let starts = starts
            .entry(path.to_owned())
            .or_insert_with(|| FunctionStarts::read(&self.readable_path(path)));
        unknown_in(path, starts.at(offset).unwrap_or(offset))
    }

    /// The kernel function at `address`.
    pub(crate) fn kernel(&self, address: u64) -> NativeName {
        match self.symbolizer.symbolize_single(&self.kernel, Input::AbsAddr(address)) {
            Ok(found) => match found.into_sym() {
                Some(symbol) => NativeName::Known(source_name(&symbol.name).to_owned()),
                None => NativeName::Unknown("kernel".into()),
            },
            Err(_) => NativeName::Unknown("kernel".into()),
        }
    }

    fn mapping_of(&self, address: u64) -> Option<&Mapping> {
        let after = self.mappings.partition_point(|mapping| mapping.start <= address);
        let mapping = self.mappings.get(after.checked_sub(1)?)?;
        (address < mapping.end).then_some(mapping)
    }

    /// By its path where possible, for files with debug information are found beside it.
    fn readable_path(&self, inside: &str) -> PathBuf {
        match self.files.get(inside) {
            Some(CodeFile { outside, .. }) if outside.exists() => outside.clone(),
            Some(CodeFile { held: Some(file), .. }) => {
                PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
            }
            _ => PathBuf::from(inside),
        }
    }

    fn vdso_name(&self, offset: u64) -> NativeName {
        let symbols = self.vdso.get().map_or(&[][..], Vec::as_slice);
        symbols
            .iter()
            .find(|&&(start, size, _)| (start..start + size.max(1)).contains(&offset))
            .map_or_else(
                || unknown_in("[vdso]", offset),
                |(_, _, name)| NativeName::Known(name.clone()),
            )
    }

    /// The vdso is in no file; its symbols are read out of the node's memory.
    fn read_vdso(&self, process: &Process) -> Option<Vec<(u64, u64, String)>> {
        let mapping = self.mappings.iter().find(|mapping| mapping.path == "[vdso]")?;
        let mut bytes = vec![0; usize::try_from(mapping.end - mapping.start).ok()?];
        process.read(mapping.start, &mut bytes).ok()?;
        let file = object::File::parse(bytes.as_slice()).ok()?;
        let symbols = file.dynamic_symbols().filter_map(|symbol| {
            Some((symbol.address(), symbol.size(), symbol.name().ok()?.to_owned()))
        });
        Some(symbols.collect())
    }
}

fn unknown_in(path: &str, offset: u64) -> NativeName {
    let file = path.trim_end_matches(" (deleted)").rsplit('/').next().unwrap_or(path);
    NativeName::Unknown(format!("{file}+{offset:#x}"))
}
