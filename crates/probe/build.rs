//! Writes the C header of `bpf/interface.rs` and compiles the eBPF programs with clang. The programs use headers of
//! their own, so that the build needs clang only. Lists the tables in `names/`.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "cargo reads directives from stdout")]

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Programs, each compiled from `bpf/NAME.bpf.c` to an object.
const PROGRAMS: [&str; 3] = ["clock", "sampler", "writes"];

/// Directory of the tables of names, a file per build id.
const NAMES: &str = "names";

/// Text of documentation comments, line by line.
type Docs = &'static [&'static str];

macro_rules! constants {
    ($($(#[doc = $doc:literal])* const $name:ident: $type:ident = $value:expr;)*) => {
        $(const $name: $type = $value;)*
        /// Documentation, name, type and value.
        const CONSTANTS: &[(Docs, &str, &str, u64)] =
            &[$((&[$($doc),*], stringify!($name), stringify!($type), $name as u64)),*];
    };
}

macro_rules! enums {
    ($($(#[doc = $doc:literal])* enum $name:ident {
        $($(#[doc = $variant_doc:literal])* $variant:ident = $number:literal),* $(,)?
    })*) => {
        /// Documentation, name and variants.
        const ENUMS: &[(Docs, &str, &[(Docs, &str, u8)])] = &[$(
            (&[$($doc),*], stringify!($name),
             &[$((&[$($variant_doc),*], stringify!($variant), $number)),*])
        ),*];
    };
}

macro_rules! structs {
    ($($(#[doc = $doc:literal])* struct $name:ident {
        $($(#[doc = $field_doc:literal])* $field:ident: $type:ty),* $(,)?
    })*) => {
        /// Documentation, name and fields.
        const STRUCTS: &[(Docs, &str, &[(Docs, &str, &str)])] = &[$(
            (&[$($doc),*], stringify!($name),
             &[$((&[$($field_doc),*], stringify!($field), stringify!($type))),*])
        ),*];
    };
}

include!("bpf/interface.rs");

fn main() {
    println!("cargo::rerun-if-changed=bpf");
    println!("cargo::rerun-if-changed={NAMES}");
    println!("cargo::rerun-if-env-changed=CLANG");
    if let Err(reason) = build() {
        println!("cargo::error={reason}");
        std::process::exit(1);
    }
}

fn build() -> Result<(), String> {
    let out = PathBuf::from(env::var("OUT_DIR").map_err(|error| error.to_string())?);
    let header = out.join("interface.h");
    fs::write(&header, interface_header())
        .map_err(|error| format!("cannot write {}: {error}", header.display()))?;
    fs::write(out.join("known_builds.rs"), known_builds()?)
        .map_err(|error| format!("cannot write the list of {NAMES}/: {error}"))?;
    PROGRAMS.iter().try_for_each(|name| compile(name, &out))
}

/// A constant with build id and text of each table.
fn known_builds() -> Result<String, String> {
    let unreadable = |error| format!("cannot list {NAMES}/: {error}");
    let mut ids = Vec::new();
    for entry in fs::read_dir(NAMES).map_err(unreadable)? {
        let name = entry.map_err(unreadable)?.file_name();
        ids.extend(name.to_string_lossy().strip_suffix(".names").map(str::to_owned));
    }
    ids.sort();
    let entry = |id: &String| {
        format!(
            "    (\"{id}\", include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/{NAMES}/{id}.names\"))),\n"
        )
    };
    let entries: String = ids.iter().map(entry).collect();
    Ok(format!("const TABLES: &[(&str, &str)] = &[\n{entries}];\n"))
}

fn compile(name: &str, out: &Path) -> Result<(), String> {
    let source = format!("bpf/{name}.bpf.c");
    let clang = env::var("CLANG").unwrap_or_else(|_| "clang".into());
    let status = Command::new(&clang)
        .args(["-target", "bpf", "-mcpu=v3", "-O2", "-g", "-Wall", "-Werror", "-c", &source, "-o"])
        .arg(out.join(format!("{name}.bpf.o")))
        .args(["-Ibpf".to_owned(), format!("-Ibpf/{}", machine()?)])
        .arg(format!("-I{}", out.display()))
        // Keeps the build machine's paths out of the object's debug information.
        .arg(format!("-fdebug-prefix-map={}=generated", out.display()))
        .args(["-fdebug-prefix-map=.=", "-fdebug-compilation-dir=."])
        .status()
        .map_err(|error| {
            format!("cannot run {clang} ({error}): install it with `apt-get install clang`")
        })?;
    if status.success() { Ok(()) } else { Err(format!("{clang} could not compile {source}")) }
}

/// The directory with the part of the programs that depends on the machine's architecture.
fn machine() -> Result<String, String> {
    let machine = env::var("CARGO_CFG_TARGET_ARCH").map_err(|error| error.to_string())?;
    if Path::new("bpf").join(&machine).join("arch.h").exists() {
        return Ok(machine);
    }
    // An unsupported architecture still builds; the program refuses it at run time.
    Ok("x86_64".into())
}

fn interface_header() -> String {
    let start =
        "/* Written by build.rs from bpf/interface.rs. */\n#pragma once\n#include \"kernel.h\"\n";
    let constants = CONSTANTS.iter().map(|&(docs, name, kind, value)| {
        let suffix = if kind == "u64" { "ULL" } else { "" };
        format!("\n{}#define {name} {value}{suffix}\n", comment(docs, ""))
    });
    let enums = ENUMS.iter().map(|&(docs, name, variants)| c_enum(docs, name, variants));
    let structs = STRUCTS.iter().map(|&(docs, name, fields)| c_struct(docs, name, fields));
    [start.to_owned()].into_iter().chain(constants).chain(enums).chain(structs).collect()
}

fn c_enum(docs: Docs, name: &str, variants: &[(Docs, &str, u8)]) -> String {
    let name = snake_case(name);
    let prefix = name.to_uppercase();
    let lines = variants.iter().map(|&(docs, variant, number)| {
        let variant = snake_case(variant).to_uppercase();
        format!("{}    {prefix}_{variant} = {number},\n", comment(docs, "    "))
    });
    let lines: String = lines.collect();
    let count = variants.len();
    format!("\n{}enum {name} {{\n{lines}    {prefix}_COUNT = {count}\n}};\n", comment(docs, ""))
}

fn c_struct(docs: Docs, name: &str, fields: &[(Docs, &str, &str)]) -> String {
    let lines = fields.iter().map(|&(docs, field, kind)| {
        format!("{}    {};\n", comment(docs, "    "), c_field(field, kind))
    });
    let lines: String = lines.collect();
    format!("\n{}struct {} {{\n{lines}}};\n", comment(docs, ""), snake_case(name))
}

/// Declaration of a field in C. `kind` is `u64`, `Name`, `[u64; LENGTH]` or `[Name; LENGTH as usize]`.
fn c_field(field: &str, kind: &str) -> String {
    let array = kind.strip_prefix('[').and_then(|kind| kind.strip_suffix(']')?.split_once("; "));
    match array {
        Some((kind, length)) => {
            format!("{} {field}[{}]", c_type(kind), length.replace(" as usize", ""))
        }
        None => format!("{} {field}", c_type(kind)),
    }
}

fn c_type(kind: &str) -> String {
    match kind {
        "u8" | "u16" | "u32" | "u64" => kind.to_owned(),
        "i32" => "s32".to_owned(),
        name => format!("struct {}", snake_case(name)),
    }
}

/// The name in snake case: `sample_key` for `SampleKey`.
fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for (index, letter) in name.char_indices() {
        if letter.is_ascii_uppercase() && index > 0 {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

fn comment(docs: Docs, indent: &str) -> String {
    if docs.is_empty() {
        return String::new();
    }
    let lines: Vec<String> = docs.iter().map(|line| format!("{indent} *{line}\n")).collect();
    format!("{indent}/*\n{}{indent} */\n", lines.concat())
}
