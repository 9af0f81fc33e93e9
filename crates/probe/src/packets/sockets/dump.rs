//! Requests TCP connections from the kernel.

use rabbitscope_machine::sockets::diagnosis::{
    DiagnosisError, DiagnosisRequest, IPV4, IPV6, SocketDiagnosis,
};

use super::{
    attributes::ATTRIBUTES,
    program::program,
    socket::{TcpSocket, TcpState},
};
use crate::packets::{
    error::PacketError,
    namespace::{NetworkNamespace, within},
    ports::PortSet,
};

/// All TCP connections of a network with one of `ports` at either end, at most `limit`, and the number of further
/// ones. Listening sockets are not included.
pub fn dump_sockets(
    ports: &PortSet,
    namespace: Option<&NetworkNamespace>,
    limit: usize,
) -> Result<(Vec<TcpSocket>, usize), PacketError> {
    SocketDump::open(namespace)?.connections(ports, limit)
}

/// Requests for the connections of one network.
#[derive(Debug)]
pub(super) struct SocketDump(SocketDiagnosis);

impl SocketDump {
    /// Begins in `namespace`, whose sockets it then lists.
    pub(super) fn open(namespace: Option<&NetworkNamespace>) -> Result<Self, PacketError> {
        within(namespace, || Ok(Self(SocketDiagnosis::open()?)))
    }

    /// All connections with one of `ports`, at most `limit`, and the number of further ones. Sockets in states without
    /// figures are not requested: listening, not accepted, ended.
    pub(super) fn connections(
        &mut self,
        ports: &PortSet,
        limit: usize,
    ) -> Result<(Vec<TcpSocket>, usize), PacketError> {
        let (mut sockets, mut left_out) = (Vec::new(), 0);
        for family in [IPV4, IPV6] {
            let request = DiagnosisRequest::all(family, TcpState::ALL.map(|state| state as u8))
                .with_attributes(&ATTRIBUTES)
                .with_program(program(ports));
            self.0.ask(&request, |described| match TcpSocket::from_described(described) {
                Some(socket) if sockets.len() < limit => sockets.push(socket),
                Some(_) => left_out += 1,
                None => {}
            })?;
        }
        Ok((sockets, left_out))
    }
}

impl From<DiagnosisError> for PacketError {
    fn from(error: DiagnosisError) -> Self {
        let (action, source) = match error {
            DiagnosisError::Message(detail) => return Self::SocketMessage { detail },
            DiagnosisError::Open(source) => ("opening a socket for socket diagnosis", source),
            DiagnosisError::Ask(source) => ("asking the kernel for sockets", source),
            DiagnosisError::Read(source) => ("reading the kernel's description of sockets", source),
            DiagnosisError::Refused(source) => (
                "asking the kernel for sockets; it needs the module tcp_diag (`modprobe tcp_diag`)",
                source,
            ),
        };
        Self::io(action)(source)
    }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn both_ends_of_own_connections() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(address) else { continue };
            let local = listener.local_addr().unwrap();
            let stream = TcpStream::connect(local).unwrap();
            let accepted = listener.accept().unwrap();
            let ports = PortSet::new([local.port()]).unwrap();
            let (sockets, left_out) = dump_sockets(&ports, None, 10).unwrap();
            let mut ends: Vec<_> =
                sockets.iter().map(|socket| (socket.local, socket.remote)).collect();
            ends.sort_unstable();
            let own = stream.local_addr().unwrap();
            let mut expected = vec![(local, own), (own, local)];
            expected.sort_unstable();
            assert_eq!((ends, left_out), (expected, 0), "{address}");
            assert!(
                sockets.iter().all(|socket| socket.info.busy.is_some() && socket.memory.is_some())
            );
            assert_eq!(dump_sockets(&ports, None, 1).unwrap().1, 1);
            drop(accepted);
        }
    }
}
