//! The OTP release and the version of the runtime system. For people and messages only: nothing depends on them.

use super::{exports::Exports, static_data::StaticData};
use crate::node::ReadMemory;

const RELEASE: &str = "etp_otp_release";
const ERTS_VERSION: &str = "etp_erts_version";

/// In the loader's message about modules of a later release.
const BEFORE_RELEASE: &str = "than the current (Erlang/OTP ";

/// In the banner.
const BEFORE_ERTS_VERSION: &str = "(BEAM) emulator version ";

/// Longest text of a version.
const MAX_TEXT: usize = 32;

/// Versions as the VM says them, `?` where it does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Release {
    /// `29`
    pub(in super::super) otp: String,
    /// `17.1`
    pub(in super::super) erts: String,
}

/// From exported variables, or from texts of the executable.
pub(in super::super) fn release_of(
    memory: &impl ReadMemory,
    exports: &Exports,
    data: &StaticData,
) -> Release {
    let exported = |name: &str| text_at(memory, exports.address(name)?);
    let unknown = || "?".to_owned();
    let otp = || data.text_after(BEFORE_RELEASE, |it| it.is_ascii_digit());
    let erts = || data.text_after(BEFORE_ERTS_VERSION, |it| it.is_ascii_digit() || it == '.');
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
