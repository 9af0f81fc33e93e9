//! Assembles the Erlang modules of `agent/manifest.toml` into files of `OUT_DIR`.

#![allow(clippy::print_stdout, reason = "cargo reads directives from stdout")]

use std::{collections::BTreeMap, env, error::Error, fs, path::Path};

use assembly::{Part, assembled};

#[path = "build/assembly.rs"]
mod assembly;

const AGENT: &str = "../../agent";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={AGENT}");
    let out = env::var("OUT_DIR")?;
    let manifest = fs::read_to_string(format!("{AGENT}/manifest.toml"))?;
    // Groups (agents, tests) of modules, each with the files that its own file needs.
    let groups: BTreeMap<String, BTreeMap<String, Vec<String>>> = toml::from_str(&manifest)?;
    for (file, others) in groups.into_values().flatten() {
        let files = [vec![file], others].concat();
        let parts = files.iter().map(|file| part(file)).collect::<Result<Vec<_>, _>>()?;
        let mut missing = None;
        let text = assembled(&parts, &mut |name| {
            header(&files, name).unwrap_or_else(|| {
                missing = Some(name.to_owned());
                String::new()
            })
        });
        if let Some(name) = missing {
            return Err(format!("{AGENT}: no part of {} has {name} in its folder", files[0]).into());
        }
        let module = &parts[0].module;
        fs::write(Path::new(&out).join(format!("{module}.erl")), text)?;
    }
    Ok(())
}

fn part(file: &str) -> Result<Part, String> {
    let path = format!("{AGENT}/{file}.erl");
    let text = fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    let module = file.rsplit('/').next().unwrap_or(file).to_owned();
    Ok(Part { module, text })
}

/// Returns the text of a header, which is in the folder of a part that includes it.
fn header(files: &[String], name: &str) -> Option<String> {
    files.iter().find_map(|file| {
        let folder = Path::new(AGENT).join(file);
        fs::read_to_string(folder.parent()?.join(name)).ok()
    })
}
