//! Fragments of the JIT through which Erlang code calls C functions.

/// The fragment for calls of BIFs that are known when the code is loaded.
pub(crate) const CALL_LIGHT_BIF: &str = "global::call_light_bif_shared";

/// The fragment for calls of BIFs by name, and for BIFs that continue after an interruption.
pub(crate) const CALL_BIF: &str = "global::call_bif_shared";

/// The fragment for NIFs.
pub(crate) const CALL_NIF: &str = "global::call_nif_shared";
