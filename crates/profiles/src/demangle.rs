//! Source names of symbols, without compiler suffixes for copies and parts of functions, and demangled for C++ and
//! Rust.

use std::{borrow::Cow, fmt};

use cpp_demangle::{DemangleOptions, ParseOptions, Symbol};

/// Suffixes that compilers append to the name of a part or a copy of a function.
const SUFFIXES: [&str; 6] = [".isra.", ".part.", ".constprop.", ".cold", ".lto_priv.", ".llvm."];

/// Size limits of a symbol and of its demangled name: a few bytes can expand without end.
const MAX_SYMBOL_BYTES: usize = 16 << 10;
const MAX_NAME_BYTES: usize = 16 << 10;

/// Depth limit of nested templates.
const MAX_DEPTH: u32 = 64;

/// Returns the name of a symbol as in the source. C++ names have no parameters and result, Rust names no hash. A name
/// that cannot be demangled stays.
pub fn source_name(symbol: &str) -> Cow<'_, str> {
    let name = without_suffix(symbol);
    match demangled(name) {
        Some(demangled) => Cow::Owned(demangled),
        None => Cow::Borrowed(name),
    }
}

/// Returns a symbol without compiler suffixes.
pub fn without_suffix(symbol: &str) -> &str {
    let cut = SUFFIXES.iter().filter_map(|suffix| symbol.find(suffix)).min();
    &symbol[..cut.unwrap_or(symbol.len())]
}

fn demangled(name: &str) -> Option<String> {
    if name.len() > MAX_SYMBOL_BYTES || !name.starts_with("_R") && !name.starts_with("_Z") {
        return None;
    }
    let mut out = Limited(String::new());
    if let Ok(rust) = rustc_demangle::try_demangle(name) {
        fmt::write(&mut out, format_args!("{rust:#}")).ok()?;
    } else {
        let parse = ParseOptions::default().recursion_limit(MAX_DEPTH);
        let options =
            DemangleOptions::new().no_params().no_return_type().recursion_limit(MAX_DEPTH);
        let symbol = Symbol::new_with_options(name, &parse).ok()?;
        symbol.structured_demangle(&mut out, &options).ok()?;
    }
    Some(out.0).filter(|name| !name.is_empty())
}

/// Text with a size limit.
struct Limited(String);

impl fmt::Write for Limited {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > MAX_NAME_BYTES {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(symbol: &str, expected: &str) {
        assert_eq!(source_name(symbol), expected);
    }

    #[test]
    fn compiler_suffixes_are_dropped() {
        check("do_minor.isra.0", "do_minor");
        check("db_match.constprop.2.cold", "db_match");
        check("__vdso_clock_gettime", "__vdso_clock_gettime");
    }

    #[test]
    fn names_of_cpp_have_no_parameters() {
        check("_Z20beam_jit_wait_lockedP7processPKv", "beam_jit_wait_locked");
        check("_ZN19BeamModuleAssembler9emit_sendEv", "BeamModuleAssembler::emit_send");
        check("_ZN19BeamModuleAssembler9emit_sendEv.part.0", "BeamModuleAssembler::emit_send");
        check(
            "_ZNSt6vectorIiSaIiEE9push_backERKi",
            "std::vector<int, std::allocator<int> >::push_back",
        );
        check("_Z99short", "_Z99short");
        check("_Zonk", "_Zonk");
    }

    #[test]
    fn names_of_rust_have_no_hash() {
        check("_RNvCskwGfYPst2Cb_3foo16example_function", "foo::example_function");
        check("_RNvNtCs1234_7mycrate3foo3bar.llvm.123456", "mycrate::foo::bar");
        check("_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write");
        check("_R", "_R");
    }

    /// Builds a name in which each part refers to all earlier parts twice.
    #[test]
    fn a_name_without_end_stays_mangled() {
        let bomb = format!("_Z1fI{}E", "St4pairIS_S_E".repeat(40));
        assert!(source_name(&bomb).len() <= MAX_NAME_BYTES.max(bomb.len()));
    }
}
