//! Names of native and kernel functions.
//!
//! The mappings are read while the node lives, and addresses are looked up by file and offset, so that names can be
//! found after the node has exited.

use std::{
    cell::{OnceCell, RefCell},
    collections::HashMap,
    fs::File,
    os::fd::AsRawFd,
    path::Path,
    rc::Rc,
};

use blazesym::symbolize::{
    Input, Symbolizer,
    source::{Elf, Source},
};
use object::{Object, ObjectSymbol};
use rabbitscope_profiles::source_name;

use super::{
    debug_file::DebugFile, kernel_names::KernelNames, limits::MAX_CODE_BYTES,
    native_name::NativeName, stripped::StrippedCode,
};
use crate::{
    beam::{FunctionPlace, NativeFunction},
    node::{MAX_VDSO_BYTES, Mapping, Process},
};

/// Looks up native code of one node, and of the kernel.
pub(crate) struct NativeNames {
    symbolizer: Symbolizer,
    kernel: Rc<KernelNames>,
    mappings: Vec<Mapping>,
    /// Files by path; `None` for unreadable ones.
    files: HashMap<String, Option<Code>>,
    vdso: OnceCell<Vec<(u64, u64, String)>>,
    stripped: RefCell<HashMap<String, StrippedCode>>,
    /// Functions named by the VM.
    vm_functions: Vec<NativeFunction>,
}

/// An open file: it stays the same file when the node exits or the path changes.
struct Code {
    file: File,
    debug: Option<DebugFile>,
}

impl NativeNames {
    /// The names of `process`. `vm_functions` are functions named by the VM.
    pub(crate) fn new(process: &Process, vm_functions: Vec<NativeFunction>) -> Self {
        let symbolizer = symbol_tables_only();
        let mut names = Self {
            symbolizer,
            kernel: KernelNames::shared(),
            mappings: Vec::new(),
            files: HashMap::new(),
            vdso: OnceCell::new(),
            stripped: RefCell::default(),
            vm_functions,
        };
        names.refresh(process);
        names
    }

    /// Reads the mappings again; keeps the old ones if the node has exited.
    pub(crate) fn refresh(&mut self, process: &Process) {
        let Ok(mappings) = process.mappings() else { return };
        if mappings.is_empty() {
            return;
        }
        self.mappings = mappings.into_iter().filter(|mapping| mapping.executable).collect();
        for mapping in self.mappings.iter().filter(|mapping| mapping.path.starts_with('/')) {
            let code = self.files.entry(mapping.path.clone());
            code.or_insert_with(|| Code::open(process, mapping));
        }
        if self.vdso.get().is_none()
            && let Some(symbols) = self.read_vdso(process)
        {
            // Set once: every process of a machine has the same vdso.
            let _ = self.vdso.set(symbols);
        }
    }

    /// Returns whether any mapping has `address`.
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
        let Some(code) = self.files.get(&mapping.path).and_then(Option::as_ref) else {
            return NativeName::unknown_in(&mapping.path, offset);
        };
        match code.name(&self.symbolizer, offset) {
            Some(name) => NativeName::Known(source_name(&name).into_owned()),
            None => self.without_symbol(mapping, code, offset),
        }
    }

    /// A function without a symbol, named by the table of this build or by the VM.
    fn without_symbol(&self, mapping: &Mapping, code: &Code, offset: u64) -> NativeName {
        let mut stripped = self.stripped.borrow_mut();
        let stripped =
            stripped.entry(mapping.path.clone()).or_insert_with(|| StrippedCode::read(&code.file));
        let known = stripped.name(offset).map(NativeName::Known);
        let from_vm = || self.vm_name(mapping, stripped, offset).map(NativeName::FromVm);
        known.or_else(from_vm).unwrap_or_else(|| stripped.nameless(&mapping.path, offset))
    }

    fn vm_name(&self, mapping: &Mapping, code: &StrippedCode, offset: u64) -> Option<String> {
        let start = code.start(offset)?;
        let in_file = |address: u64| {
            let within = (mapping.start..mapping.end).contains(&address);
            within.then(|| address - mapping.start + mapping.file_offset)
        };
        let is_this = |function: &&NativeFunction| match function.place {
            FunctionPlace::Start(address) => in_file(address) == Some(start),
            FunctionPlace::Code(address) => {
                in_file(address).is_some_and(|offset| code.start(offset) == Some(start))
            }
        };
        self.vm_functions.iter().find(is_this).map(|function| function.name.clone())
    }

    /// The path and the offset of the code at `address`, if it is in a readable file.
    pub(crate) fn place_in_file(&self, address: u64) -> Option<(&str, u64)> {
        let mapping = self.mapping_of(address)?;
        self.files.get(&mapping.path)?.as_ref()?;
        Some((&mapping.path, address - mapping.start + mapping.file_offset))
    }

    /// The file of code at a path, held open.
    pub(crate) fn file(&self, path: &str) -> Option<&File> {
        Some(&self.files.get(path)?.as_ref()?.file)
    }

    /// The kernel function at `address`.
    pub(crate) fn kernel(&self, address: u64) -> NativeName {
        self.kernel.name(address)
    }

    fn mapping_of(&self, address: u64) -> Option<&Mapping> {
        let after = self.mappings.partition_point(|mapping| mapping.start <= address);
        let mapping = self.mappings.get(after.checked_sub(1)?)?;
        (address < mapping.end).then_some(mapping)
    }

    fn vdso_name(&self, offset: u64) -> NativeName {
        let symbols = self.vdso.get().map_or(&[][..], Vec::as_slice);
        symbols
            .iter()
            .find(|&&(start, size, _)| (start..start.saturating_add(size.max(1))).contains(&offset))
            .map_or_else(
                || NativeName::unknown_in("[vdso]", offset),
                |(_, _, name)| NativeName::Known(name.clone()),
            )
    }

    /// The symbols of the vdso, out of the node's memory: no file has it.
    fn read_vdso(&self, process: &Process) -> Option<Vec<(u64, u64, String)>> {
        let mapping = self.mappings.iter().find(|mapping| mapping.path == "[vdso]")?;
        let bytes = process.mapped_bytes(mapping, MAX_VDSO_BYTES)?;
        let file = object::File::parse(bytes.as_slice()).ok()?;
        let symbols = file.dynamic_symbols().filter_map(|symbol| {
            Some((symbol.address(), symbol.size(), symbol.name().ok()?.to_owned()))
        });
        Some(symbols.collect())
    }
}

/// A symbolizer that reads neither lines nor inlined functions.
pub(super) fn symbol_tables_only() -> Symbolizer {
    Symbolizer::builder()
        .enable_auto_reload(false)
        .enable_code_info(false)
        .enable_inlined_fns(false)
        .build()
}

impl Code {
    fn open(process: &Process, mapping: &Mapping) -> Option<Self> {
        let by_path = |_| process.file(&mapping.path);
        let file = process.mapped_file(mapping).or_else(by_path).ok()?;
        // In the node's mount namespace or in this process's: with a container, either may have the debug package.
        let here = |path: &str| rabbitscope_files::open(Path::new(path), MAX_CODE_BYTES);
        let find = |path: &str| process.file(path).or_else(|_| here(path));
        let debug = DebugFile::find(&file, find);
        Some(Self { file, debug })
    }

    fn name(&self, symbolizer: &Symbolizer, offset: u64) -> Option<String> {
        let held = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        let source = Source::Elf(Elf { debug_syms: false, ..Elf::new(held) });
        let found = symbolizer.symbolize_single(&source, Input::FileOffset(offset)).ok();
        let symbol = found.and_then(|found| Some(found.into_sym()?.name.into_owned()));
        symbol.or_else(|| self.debug.as_ref()?.name(symbolizer, offset))
    }
}
