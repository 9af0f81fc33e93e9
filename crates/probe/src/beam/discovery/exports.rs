//! The variables that the emulator exports. Until OTP 28 the distributions' emulators exported all. Later ones
//! export the functions for drivers and NIFs, and no variable.

use std::collections::HashMap;

/// Addresses in memory and lengths in bytes, by name.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Exports {
    spans: HashMap<String, (u64, u64)>,
}

impl Exports {
    /// Exports of a file with these `symbols`. `bias` is the difference between an address in memory and in the
    /// file.
    pub(in super::super) fn new(symbols: &HashMap<String, (u64, u64)>, bias: u64) -> Self {
        let moved = |(name, &(address, size)): (&String, &(u64, u64))| {
            (name.clone(), (address.wrapping_add(bias), size))
        };
        Self { spans: symbols.iter().map(moved).collect() }
    }

    /// Address and length of a variable.
    pub(in super::super) fn span(&self, name: &str) -> Option<(u64, u64)> {
        self.spans.get(name).copied()
    }

    /// All names with their addresses.
    #[cfg(test)]
    pub(in super::super) fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.spans.iter().map(|(name, (address, _))| (name.as_str(), *address))
    }

    /// Address of a variable.
    pub(in super::super) fn address(&self, name: &str) -> Option<u64> {
        self.span(name).map(|(address, _)| address)
    }
}
