//! Certificates, and brokers that use them.

use std::{fs, path::Path};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};

use super::ports::free_port;

/// Makes an authority in `NAME-ca.pem` that has signed `NAME-broker.pem` and `NAME-client.pem`, with keys. The
/// broker's is for `localhost` and `broker.test`, the client's for `client.test`.
pub fn certificates(directory: &Path, name: &str) {
    let file = |name: &str, text: &str| fs::write(directory.join(name), text).unwrap();
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(DnType::CommonName, format!("{name} authority"));
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    file(&format!("{name}-ca.pem"), &authority.pem());
    let hosts = [("broker", vec!["broker.test", "localhost"]), ("client", vec!["client.test"])];
    for (role, hosts) in hosts {
        let key = KeyPair::generate().unwrap();
        let hosts: Vec<_> = hosts.into_iter().map(str::to_owned).collect();
        let mut params = CertificateParams::new(hosts).unwrap();
        params.distinguished_name.push(DnType::CommonName, role);
        let certificate = params.signed_by(&key, &authority).unwrap();
        file(&format!("{name}-{role}.pem"), &certificate.pem());
        file(&format!("{name}-{role}-key.pem"), &key.serialize_pem());
    }
}

/// Returns the configuration of a broker with TLS on a separate port, and the port. The authority in `own-ca.pem` has
/// signed the broker's certificate. All files are in this directory.
pub fn tls_listener(directory: &Path) -> (String, u16) {
    certificates(directory, "own");
    let port = free_port();
    let file = |name: &str| directory.join(name).display().to_string();
    let config = format!(
        "listeners.ssl.1 = 127.0.0.1:{port}\nssl_options.cacertfile = {}\n\
         ssl_options.certfile = {}\nssl_options.keyfile = {}\nssl_options.verify = verify_peer\n\
         ssl_options.fail_if_no_peer_cert = false\n",
        file("own-ca.pem"),
        file("own-broker.pem"),
        file("own-broker-key.pem"),
    );
    (config, port)
}
