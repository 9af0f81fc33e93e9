//! Credentials and certificate authorities, read from their files.

use std::{io, os::unix::fs::MetadataExt, path::Path, sync::Arc};

use base64::{Engine, prelude::BASE64_STANDARD};
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};
use zeroize::Zeroizing;

use crate::{Credentials, ExportError, ExporterOptions, ServerTrust};

/// Length limit of a password or token.
const MAX_SECRET_BYTES: u64 = 4096;

/// Permission bits that let every user read or write a file.
const OF_OTHERS: u32 = 0o006;

/// Returns the value of the header `Authorization`.
pub(super) fn authorization(
    exporter: &ExporterOptions,
) -> Result<Option<Zeroizing<String>>, ExportError> {
    let header = match &exporter.credentials {
        Credentials::Nobody => return Ok(None),
        Credentials::Token { file } => {
            let token = secret(file).map_err(|reason| in_file(exporter, file, reason))?;
            format!("Bearer {}", *token)
        }
        Credentials::Password { user, file } => {
            let password = secret(file).map_err(|reason| in_file(exporter, file, reason))?;
            let pair = Zeroizing::new(format!("{user}:{}", *password));
            format!("Basic {}", BASE64_STANDARD.encode(pair.as_bytes()))
        }
    };
    Ok(Some(Zeroizing::new(header)))
}

fn in_file(exporter: &ExporterOptions, file: &Path, reason: String) -> ExportError {
    ExportError::File { exporter: exporter.name.clone(), path: file.to_owned(), reason }
}

/// Returns the file's only line. An error never quotes it.
fn secret(path: &Path) -> Result<Zeroizing<String>, String> {
    let unreadable = |error: io::Error| format!("cannot be read: {error}");
    let file = rabbitscope_files::open(path, MAX_SECRET_BYTES).map_err(unreadable)?;
    if file.metadata().map_err(unreadable)?.mode() & OF_OTHERS != 0 {
        return Err("other users of this machine can read or write it; chmod 600".to_owned());
    }
    let bytes = rabbitscope_files::read_all(file, MAX_SECRET_BYTES).map_err(unreadable)?;
    let text = String::from_utf8(bytes).map(Zeroizing::new);
    let text = text.map_err(|_| "is not text in UTF-8".to_owned())?;
    let line = text.trim_matches(['\r', '\n']);
    if line.is_empty() || line.contains(char::is_control) {
        return Err("must contain exactly one line".to_owned());
    }
    Ok(Zeroizing::new(line.to_owned()))
}

/// Returns the TLS configuration. Without `https` no certificates are loaded.
pub(super) fn tls(exporter: &ExporterOptions) -> Result<TlsConfig, ExportError> {
    if !exporter.url.starts_with("https://") {
        return Ok(TlsConfig::default());
    }
    // rustls has no default provider.
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = TlsConfig::builder().unversioned_rustls_crypto_provider(provider);
    let authorities = match &exporter.trust {
        ServerTrust::Anybody => return Ok(builder.disable_verification(true).build()),
        ServerTrust::Authorities(file) => {
            authorities(file).map_err(|reason| in_file(exporter, file, reason))?
        }
        ServerTrust::System => {
            let found = rustls_native_certs::load_native_certs().certs;
            if found.is_empty() {
                return Err(ExportError::NoAuthorities { exporter: exporter.name.clone() });
            }
            found.iter().map(|one| Certificate::from_der(one).to_owned()).collect()
        }
    };
    Ok(builder.root_certs(RootCerts::new_with_certs(&authorities)).build())
}

fn authorities(file: &Path) -> Result<Vec<Certificate<'static>>, String> {
    let pem = rabbitscope_files::read(file, rabbitscope_files::MAX_TEXT_BYTES);
    let pem = pem.map_err(|error| format!("cannot be read: {error}"))?;
    let certificate = |item| match item {
        Ok(PemItem::Certificate(certificate)) => Some(certificate),
        _ => None,
    };
    let found: Vec<_> = parse_pem(&pem).filter_map(certificate).collect();
    if found.is_empty() {
        return Err("contains no certificate in PEM format".to_owned());
    }
    Ok(found)
}
