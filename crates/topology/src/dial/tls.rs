//! The TLS configuration of a scenario: authorities, client certificate, verification.

use std::{io, path::Path, sync::Arc};

use rabbitscope_files::MAX_TEXT_BYTES;
use rabbitscope_runs::scenario::Tls;
use rustls::{
    ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature},
    pki_types::{
        CertificateDer, PrivateKeyDer, ServerName, UnixTime,
        pem::{self, PemObject},
    },
};
use zeroize::Zeroizing;

use crate::error::TopologyError;

pub(super) fn tls_config(tls: &Tls) -> Result<Arc<ClientConfig>, TopologyError> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| refused("set TLS up", &error))?;
    let builder = if tls.verify {
        builder.with_root_certificates(authorities(tls.ca.as_deref())?)
    } else {
        builder.dangerous().with_custom_certificate_verifier(Arc::new(Unchecked(provider)))
    };
    let config = match tls.cert.as_ref().zip(tls.key.as_ref()) {
        Some((cert, key)) => {
            let chain = certificates(cert)?;
            let own = PrivateKeyDer::from_pem_slice(&text_of(key)?)
                .map_err(|error| unreadable(key, &error))?;
            let config = builder.with_client_auth_cert(chain, own);
            config.map_err(|error| refused(&format!("use {cert} with {key}"), &error))?
        }
        None => builder.with_no_client_auth(),
    };
    Ok(Arc::new(config))
}

fn authorities(file: Option<&str>) -> Result<RootCertStore, TopologyError> {
    let mut store = RootCertStore::empty();
    let Some(file) = file else {
        // Certificates of the system that cannot be parsed are skipped.
        store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        return Ok(store);
    };
    for certificate in certificates(file)? {
        store.add(certificate).map_err(|error| refused(&format!("use {file}"), &error))?;
    }
    Ok(store)
}

fn certificates(file: &str) -> Result<Vec<CertificateDer<'static>>, TopologyError> {
    let text = text_of(file)?;
    let read = CertificateDer::pem_slice_iter(&text).collect::<Result<Vec<_>, _>>();
    let certificates = read.map_err(|error| unreadable(file, &error))?;
    if certificates.is_empty() {
        return Err(unreadable(file, &pem::Error::NoItemsFound));
    }
    Ok(certificates)
}

/// Returns the content of a file, which is cleared on drop, as it may be a key.
fn text_of(file: &str) -> Result<Zeroizing<Vec<u8>>, TopologyError> {
    rabbitscope_files::read(Path::new(file), MAX_TEXT_BYTES)
        .map(Zeroizing::new)
        .map_err(|source| TopologyError::File { path: file.to_owned(), source })
}

fn unreadable(file: &str, error: &pem::Error) -> TopologyError {
    let reason = format!("{error} (PEM is expected)");
    let source = io::Error::new(io::ErrorKind::InvalidData, reason);
    TopologyError::File { path: file.to_owned(), source }
}

fn refused(doing: &str, error: &rustls::Error) -> TopologyError {
    TopologyError::Tls { doing: doing.to_owned(), reason: error.to_string() }
}

/// A verifier that accepts every certificate (`verify = false`), but no forged signature of the handshake.
#[derive(Debug)]
pub(crate) struct Unchecked(Arc<CryptoProvider>);

impl ServerCertVerifier for Unchecked {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, dss, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, dss, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
