//! The sources of names for a node's native code, file by file, and the packages with the missing names.

use std::{fs, io, path::Path};

use object::{Object, ReadCache};

use super::{
    debug_file::{DebugFile, build_id, build_id_of},
    known_builds::KnownBuild,
    limits::MAX_CODE_BYTES,
    unnamed::MissingDebugFile,
};
use crate::node::Process;

/// Directory with the lists of each package's files, by Debian's package manager.
const PACKAGE_LISTS: &str = "/var/lib/dpkg/info";
const LIST_ENDING: &str = ".list";

/// Largest readable list; that of a large package has some megabytes.
const MAX_LIST_BYTES: u64 = 16 << 20;

/// Source of names for the functions of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameSource {
    /// The file has a symbol table.
    SymbolTable,
    /// A debug package.
    DebugFile,
    /// The table of this build in `names/`.
    KnownBuild,
    /// Only the functions that the file exports.
    Exports,
}

/// A file of code that is mapped into the node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamedFile {
    /// Path of the file in this process's view.
    pub(crate) path: String,
    pub(crate) source: NameSource,
    /// Build id in hexadecimal digits.
    pub(crate) build_id: Option<String>,
}

/// The files of code of the node, each once.
pub(crate) fn named_files(process: &Process) -> Vec<NamedFile> {
    let mut mappings = process.mappings().unwrap_or_default();
    mappings.retain(|mapping| mapping.executable && mapping.path.starts_with('/'));
    mappings.dedup_by(|one, other| one.path == other.path);
    let named = mappings.iter().filter_map(|mapping| {
        let by_path = |_| process.file(&mapping.path);
        let file = process.mapped_file(mapping).or_else(by_path).ok()?;
        let here = |path: &str| rabbitscope_files::open(Path::new(path), MAX_CODE_BYTES);
        let find = |path: &str| process.file(path).or_else(|_| here(path));
        let source = source_of(&file, find)?;
        Some(NamedFile { path: mapping.path.clone(), source, build_id: build_id(&file) })
    });
    named.collect()
}

/// The files of code of the process `pid` that have neither all names nor a debug file on this machine. Empty if
/// the process is no VM or is unreadable.
pub fn files_without_names(pid: u32) -> Vec<MissingDebugFile> {
    let Ok(process) = Process::open(pid) else { return Vec::new() };
    let nameless =
        named_files(&process).into_iter().filter(|file| file.source == NameSource::Exports);
    let missing = |file: NamedFile| {
        Some(MissingDebugFile { path: file.path, build_id: file.build_id?, samples: 0 })
    };
    nameless.filter_map(missing).collect()
}

/// Returns whether the emulator's own functions have names without the VM's help.
pub(crate) fn has_names(process: &Process) -> bool {
    let Ok(program) = process.executable() else { return false };
    let mut files = named_files(process).into_iter();
    files.any(|file| file.path == program && file.source != NameSource::Exports)
}

/// The source of a file's names. `None` if it is no ELF file, such as JIT code.
fn source_of(file: &fs::File, open: impl Fn(&str) -> io::Result<fs::File>) -> Option<NameSource> {
    let cache = ReadCache::new(file);
    let parsed = object::File::parse(&cache).ok()?;
    let is_known = || build_id_of(file).and_then(|id| KnownBuild::with_id(&id)).is_some();
    Some(if parsed.symbols().next().is_some() {
        NameSource::SymbolTable
    } else if DebugFile::find(file, open).is_some() {
        NameSource::DebugFile
    } else if is_known() {
        NameSource::KnownBuild
    } else {
        NameSource::Exports
    })
}

/// The package of this system that installed the file at `path`.
pub(crate) fn package_of(path: &str) -> Option<String> {
    let lists = fs::read_dir(PACKAGE_LISTS).ok()?;
    // Systems with a merged /usr have packages that still list /lib.
    let paths = [Some(path), path.strip_prefix("/usr")];
    lists.flatten().find_map(|entry| {
        let name = entry.file_name();
        let package = name.to_str()?.strip_suffix(LIST_ENDING)?;
        let text = rabbitscope_files::read(&entry.path(), MAX_LIST_BYTES).ok()?;
        let text = String::from_utf8_lossy(&text);
        let has_file = text.lines().any(|line| paths.contains(&Some(line)));
        has_file.then(|| package.split(':').next().unwrap_or(package).to_owned())
    })
}

#[cfg(test)]
mod tests {
    use std::{fs::File, io};

    use super::{NameSource, package_of, source_of};

    #[test]
    fn the_program_of_these_tests_has_a_symbol_table() {
        let own = File::open(std::env::current_exe().unwrap()).unwrap();
        let nothing = |_: &str| Err(io::ErrorKind::NotFound.into());
        assert_eq!(source_of(&own, nothing), Some(NameSource::SymbolTable));
        let text = File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).unwrap();
        assert_eq!(source_of(&text, nothing), None);
    }

    #[test]
    fn a_file_of_no_package_has_none() {
        assert_eq!(package_of("/nonexistent/file"), None);
    }
}
