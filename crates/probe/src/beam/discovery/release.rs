//! The OTP release and the version of the runtime system, for people and messages only: no code depends on them.

use super::{exports::Exports, static_data::StaticData};
use crate::node::ReadMemory;

const RELEASE: &str = "etp_otp_release";
const ERTS_VERSION: &str = "etp_erts_version";

/// Text before the release in the loader's message about modules of a later release.
const BEFORE_RELEASE: &str = "than the current (Erlang/OTP ";

/// Text before the version in the banner.
const BEFORE_ERTS_VERSION: &str = "(BEAM) emulator version ";

/// Limit for the length of a version.
const MAX_TEXT: usize = 32;

/// Versions that the VM reports, or `?`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Release {
    /// For example `29`.
    pub(in super::super) otp: String,
    /// For example `17.1`.
    pub(in super::super) erts: String,
}

/// Reads the versions from exported variables, or from texts of the executable.
pub(in super::super) fn release_of(
    memory: &impl ReadMemory,
    exports: &Exports,
    data: &StaticData,
) -> Release {
    let exported = |name: &str| text_at(memory, exports.address(name)?);
    let unknown = || "?".to_owned();
    let otp = || data.text_after(BEFORE_RELEASE, |letter| letter.is_ascii_digit());
    let erts =
        || data.text_after(BEFORE_ERTS_VERSION, |letter| letter.is_ascii_digit() || letter == '.');
    Release {
        otp: exported(RELEASE).or_else(otp).unwrap_or_else(unknown),
        erts: exported(ERTS_VERSION).or_else(erts).unwrap_or_else(unknown),
    }
}

fn text_at(memory: &impl ReadMemory, address: u64) -> Option<String> {
    let mut bytes = [0; MAX_TEXT];
    memory.read(address, &mut bytes).ok()?;
    let end = bytes.iter().position(|&byte| byte == 0)?;
    let text = std::str::from_utf8(&bytes[..end]).ok()?;
    (!text.is_empty()).then(|| text.to_owned())
}
