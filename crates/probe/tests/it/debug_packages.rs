//! Functions that a library does not export have the names in its debug package.

use std::path::Path;

use rabbitscope_profiles::{FrameKind, Profile};

use crate::bench::{burn, names, node, not_run, record};

/// Directory of the installed package.
const PACKAGE: &str = "usr/share/doc/libc6-dbg";

#[test]
fn functions_of_libc_have_their_names() {
    let root = std::env::var("RABBITSCOPE_BROKER_ROOT").unwrap_or_else(|_| "/".into());
    if !Path::new(&root).join(PACKAGE).exists() {
        let reason = format!("libc6-dbg is not installed in {root} (scripts/setup.sh)");
        return not_run(&reason);
    }
    let burner = burn("copy");
    let profile = record(node().pid, 2.0).unwrap();
    let below = |wanted: &dyn Fn(&str) -> bool| -> u64 {
        let samples = burner.samples(&profile);
        let ends = samples.filter(|sample| wanted(innermost_native(&profile, sample)));
        ends.map(|sample| sample.weight).sum()
    };
    let (copying, nameless) = (
        below(&|name| name.starts_with("__mem") && !name.contains('+')),
        below(&|name| name.starts_with("libc.so")),
    );
    assert!(copying > 100, "{copying} samples; {:?}", profile.quality);
    assert!(nameless * 20 < copying, "{nameless} nameless, {copying} named");
}

fn innermost_native<'a>(profile: &'a Profile, sample: &rabbitscope_profiles::Sample) -> &'a str {
    let stack = names(profile, sample);
    let native = stack.iter().rfind(|&&(_, kind, _)| kind == FrameKind::Native);
    native.map_or("", |&(name, ..)| name)
}
