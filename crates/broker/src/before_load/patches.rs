//! Functions and modules that replace the broker's, loaded before it gets any load.
//!
//! The files are copied into the broker's own directory. A module that is compiled on the node
//! (`erlang/rabbitscope_patcher.erl`) makes the new code from the debug information of the installed module. The node
//! deletes it afterwards.

use std::{
    fs,
    path::{Path, PathBuf},
};

use rabbitscope_runs::{record::PatchedModule, scenario::ThrowawayBroker};

use super::binary::binary;
use crate::{BrokerError, Node, description, directory::write_private, install::Installation};

const PATCHER: &str = include_str!("../../erlang/rabbitscope_patcher.erl");

/// Size limit of a file. RabbitMQ's largest module has less than a megabyte.
const MAX_BYTES: u64 = 16 << 20;

/// The use of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Its functions replace those of the module with the same name.
    Patch,
    /// It replaces the whole module.
    Module,
}

impl Kind {
    /// The name of the patcher's function.
    fn word(self) -> &'static str {
        match self {
            Self::Patch => "patch",
            Self::Module => "module",
        }
    }
}

/// Files in loading order. Whole modules come first, so that they can be patched.
fn files(spec: &ThrowawayBroker) -> impl Iterator<Item = (Kind, &Path)> {
    let modules = spec.modules.iter().map(|file| (Kind::Module, Path::new(file)));
    modules.chain(spec.patches.iter().map(|file| (Kind::Patch, Path::new(file))))
}

/// Refuses files that cannot be read.
pub(crate) fn check(spec: &ThrowawayBroker) -> Result<(), BrokerError> {
    files(spec).try_for_each(|(_, file)| read(file).map(drop))
}

fn read(file: &Path) -> Result<Vec<u8>, BrokerError> {
    rabbitscope_files::read(file, MAX_BYTES)
        .map_err(|source| BrokerError::Unreadable { path: file.to_owned(), source })
}

/// Loads all files and stops at the first failure. Code that was loaded earlier stays on the node, which the caller
/// then ends.
pub(crate) fn apply(
    node: &Node,
    installation: &Installation,
    spec: &ThrowawayBroker,
) -> Result<Vec<PatchedModule>, BrokerError> {
    if files(spec).next().is_none() {
        return Ok(Vec::new());
    }
    let place = node.files().join("patches");
    let patcher = patcher(&place)?;
    let load = |(index, (kind, file)): (usize, (Kind, &Path))| {
        let copy = copy(&place.join(index.to_string()), file)?;
        let call = format!("{}({})", kind.word(), path(&copy));
        patched(node, installation, (kind, file), &expression(&call, &patcher))
    };
    files(spec).enumerate().map(load).collect()
}

/// Makes the code of several specs without loading it; [`switch`] loads it.
pub(crate) fn prepare(
    node: &Node,
    installation: &Installation,
    specs: &[&ThrowawayBroker],
) -> Result<Vec<Vec<PatchedModule>>, BrokerError> {
    let place = node.files().join("slots");
    let patcher = patcher(&place)?;
    let prepare = |slot: usize, (index, (kind, file)): (usize, (Kind, &Path))| {
        let copy = copy(&place.join(format!("{slot}-{index}")), file)?;
        let call = format!("prepare({slot}, {}, {})", kind.word(), path(&copy));
        patched(node, installation, (kind, file), &expression(&call, &patcher))
    };
    let slots = specs.iter().enumerate();
    let prepared = slots
        .map(|(slot, spec)| files(spec).enumerate().map(|file| prepare(slot, file)).collect())
        .collect::<Result<_, _>>()?;
    let call = format!("complete({})", specs.len());
    let all = (Kind::Module, Path::new("the code of all arms"));
    patched(node, installation, all, &expression(&call, &patcher))?;
    Ok(prepared)
}

/// Loads the code that was prepared for a slot. Fails and loads nothing while a process still runs the code of the last
/// slot but one, because loading would end that process.
pub(crate) fn switch(
    node: &Node,
    installation: &Installation,
    slot: usize,
) -> Result<(), BrokerError> {
    let asked = format!(
        "Code = persistent_term:get({{rabbitscope_patcher, {slot}}}), \
         case [M || {{M, _, _}} <- Code, not code:soft_purge(M)] of \
         [] -> [code:unstick_mod(M) || {{M, _, _}} <- Code], \
         [M || {{M, Path, It}} <- Code, code:load_binary(M, Path, It) =/= {{module, M}}]; \
         Busy -> Busy end"
    );
    match node.eval_by(installation, &asked)?.as_str() {
        "[]" => Ok(()),
        modules => Err(BrokerError::Patch {
            file: modules.trim_matches(['[', ']']).into(),
            reason: "cannot be switched: processes still run the previous code".to_owned(),
        }),
    }
}

/// Writes the patcher's source into a directory of its own.
fn patcher(place: &Path) -> Result<PathBuf, BrokerError> {
    fs::create_dir(place).map_err(BrokerError::io("make", place))?;
    let patcher = place.join("rabbitscope_patcher.erl");
    write_private(&patcher, PATCHER)?;
    Ok(patcher)
}

/// Copies a file under its own name, because the compiler's messages name it.
fn copy(directory: &Path, file: &Path) -> Result<PathBuf, BrokerError> {
    fs::create_dir(directory).map_err(BrokerError::io("make", directory))?;
    let copy = directory.join(file.file_name().unwrap_or(file.as_os_str()));
    fs::write(&copy, read(file)?).map_err(BrokerError::io("write", &copy))?;
    Ok(copy)
}

/// The path as an Erlang string.
fn path(path: &Path) -> String {
    format!("unicode:characters_to_list({})", binary(path.as_os_str().as_encoded_bytes()))
}

/// Compiles, calls and deletes the patcher. Its answer is UTF-8 as hexadecimal digits, with tabs between the parts.
fn expression(call: &str, patcher: &Path) -> String {
    format!(
        "begin {{ok, M, Code}} = compile:file({}, [binary]), {{module, M}} = code:load_binary(M, \"\", Code), \
         Answer = M:{call}, code:purge(M), code:delete(M), code:purge(M), \
         Parts = case Answer of {{ok, Module, Functions, Hash}} -> [\"ok\", Module, Hash | Functions]; \
         {{error, Text}} -> [\"error\", Text] end, \
         binary_to_list(binary:encode_hex(unicode:characters_to_binary(lists:join(\"\\t\", Parts)))) end",
        path(patcher)
    )
}

fn patched(
    node: &Node,
    installation: &Installation,
    (kind, file): (Kind, &Path),
    expression: &str,
) -> Result<PatchedModule, BrokerError> {
    let answer = node.eval_by(installation, expression)?;
    let answer = description::text(answer.trim_matches('"')).unwrap_or(answer);
    let refused =
        |reason: &str| BrokerError::Patch { file: file.to_owned(), reason: reason.to_owned() };
    let parts: Vec<&str> = answer.split('\t').collect();
    match parts[..] {
        ["ok", module, sha256, ref functions @ ..] => Ok(PatchedModule {
            module: module.to_owned(),
            functions: functions.iter().map(|function| (*function).to_owned()).collect(),
            is_whole: kind == Kind::Module,
            file: file.display().to_string(),
            sha256: sha256.to_owned(),
        }),
        ["error", reason] => Err(refused(reason)),
        _ => Err(refused(&answer)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_modules_come_before_patches() {
        let spec = ThrowawayBroker {
            patches: vec!["a.erl".to_owned()],
            modules: vec!["b.beam".to_owned()],
            ..ThrowawayBroker::default()
        };
        let order: Vec<_> = files(&spec).map(|(kind, _)| kind).collect();
        assert_eq!(order, [Kind::Module, Kind::Patch]);
        let missing = check(&spec).unwrap_err().to_string();
        assert!(missing.contains("cannot read b.beam"), "{missing}");
    }

    #[test]
    fn paths_are_digits() {
        let call = format!("patch({})", path(Path::new("/tmp/ä\"b.erl")));
        let asked = expression(&call, Path::new("/a"));
        assert!(asked.contains("<<\"2F61\">>") && asked.contains("C3A42262"), "{asked}");
        assert!(asked.is_ascii());
    }
}
