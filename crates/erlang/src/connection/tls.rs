//! TLS below the distribution protocol, as in `-proto_dist inet_tls`.

use std::{io, path::Path, sync::Arc};

use rabbitscope_files::MAX_TEXT_BYTES;
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned,
    crypto::ring::default_provider,
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject},
};
use zeroize::Zeroizing;

use super::{TlsFiles, unchecked::AnyCertificate};
use crate::{ErlangError, NodeName, distribution::Timed};

/// Reads the files. It needs no connection, so that a wrong file is reported before anything else.
pub(super) fn read(files: &TlsFiles) -> Result<Arc<ClientConfig>, ErlangError> {
    config(files).map(Arc::new).map_err(|reason| ErlangError::TlsFiles { reason })
}

/// Performs the handshake. With authorities, it verifies that one of them issued the node's certificate and that this
/// names the node's host.
pub(super) fn secured(
    stream: Timed,
    node: &NodeName,
    config: Arc<ClientConfig>,
) -> Result<StreamOwned<ClientConnection, Timed>, ErlangError> {
    let failed = |reason: String| ErlangError::Tls { node: node.to_string(), reason };
    let name = ServerName::try_from(node.host().to_owned()).map_err(|_| {
        failed(format!("`{}` is not a valid host name for a certificate", node.host()))
    })?;
    let connection =
        ClientConnection::new(config, name).map_err(|error| failed(error.to_string()))?;
    let mut stream = StreamOwned::new(connection, stream);
    while stream.conn.is_handshaking() {
        stream.conn.complete_io(&mut stream.sock).map_err(|error| failed(said(&error)))?;
    }
    Ok(stream)
}

/// A node without TLS waits for more, hangs up or answers with something else.
fn said(error: &io::Error) -> String {
    use io::ErrorKind::{ConnectionReset, TimedOut, UnexpectedEof, WouldBlock};
    let of_tls = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    let is_other = matches!(of_tls, Some(rustls::Error::InvalidMessage(_)));
    let is_silent = matches!(error.kind(), ConnectionReset | TimedOut | UnexpectedEof | WouldBlock);
    if is_other || is_silent {
        return format!(
            "the server does not seem to speak TLS ({error}): omit --tls-ca if nodes connect without TLS"
        );
    }
    error.to_string()
}

fn config(files: &TlsFiles) -> Result<ClientConfig, String> {
    let provider = Arc::new(default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    let builder = match &files.authorities {
        Some(file) => builder.with_root_certificates(authorities(file)?),
        None => {
            builder.dangerous().with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
        }
    };
    let Some((certificate, key)) = &files.own else {
        return Ok(builder.with_no_client_auth());
    };
    let unreadable = |error: String| format!("cannot read the key in {}: {error}", key.display());
    let text = text_of(key).map_err(unreadable)?;
    let secret =
        PrivateKeyDer::from_pem_slice(&text).map_err(|error| unreadable(error.to_string()))?;
    builder.with_client_auth_cert(certificates(certificate)?, secret).map_err(|error| {
        format!("certificate {} with key {}: {error}", certificate.display(), key.display())
    })
}

fn authorities(file: &Path) -> Result<RootCertStore, String> {
    let mut store = RootCertStore::empty();
    for certificate in certificates(file)? {
        store.add(certificate).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    Ok(store)
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let unreadable =
        |error: String| format!("cannot read certificates in {}: {error}", file.display());
    let text = text_of(file).map_err(unreadable)?;
    let found = CertificateDer::pem_slice_iter(&text)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| unreadable(error.to_string()))?;
    if found.is_empty() { Err(unreadable("there are none".to_owned())) } else { Ok(found) }
}

/// Reads a file that may be a key; the content is cleared when dropped.
fn text_of(file: &Path) -> Result<Zeroizing<Vec<u8>>, String> {
    let text = rabbitscope_files::read(file, MAX_TEXT_BYTES).map(Zeroizing::new);
    text.map_err(|error| error.to_string())
}
