//! A connection over one blocking socket, for the login and for requests before the load.

use std::time::{Duration, Instant};

use rabbitscope_protocol::{self as protocol, Reader, Transport};

use crate::{
    codec::Read as _,
    connection::{Connection, Login},
    error::ConnectionError,
    event::Event,
    protocol::{
        codes::Code,
        commands::{FILTER_VERSION, PUBLISH},
    },
};

/// Error of a blocking call.
pub type ClientError = protocol::ClientError<ConnectionError, Code>;

/// A client that has logged in.
#[derive(Debug)]
pub struct Client<S>(protocol::Client<Connection, S>);

/// The nodes of a stream, as host and port.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Publishers connect to it. Absent while the stream has no leader.
    pub leader: Option<(String, u16)>,
    /// Readers connect to one of them.
    pub replicas: Vec<(String, u16)>,
}

/// Abilities of a server beyond the first version of the protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Abilities {
    /// It has single active consumers.
    pub single_active_consumers: bool,
    /// It takes messages with filter values.
    pub filters: bool,
}

impl<S: Transport> Client<S> {
    /// Logs in over a connected socket. `timeout` applies to the login and to each later call. Writes have the socket's
    /// own timeout.
    pub fn log_in(stream: S, login: Login, timeout: Duration) -> Result<Self, ClientError> {
        let connection = Connection::new(login, Instant::now());
        let mut client = protocol::Client::new(stream, connection, timeout);
        client.wait::<_, Code>(|event| matches!(event, Event::Opened).then_some(()))?;
        Ok(Self(client))
    }

    /// Returns the connection, for requests whose answer [`Client::answered`] takes.
    pub fn connection(&mut self) -> &mut Connection {
        self.0.connection_mut()
    }

    /// Waits for the answer to a request. Other events in between are dropped. Fails if the broker refused it.
    pub fn answered(&mut self, request: u32) -> Result<(), ClientError> {
        self.answer(request, |_| Ok(()))
    }

    /// Asks for the nodes of a stream.
    pub fn place(&mut self, stream: &str) -> Result<Place, ClientError> {
        let request = self.0.connection_mut().ask_for_place(stream);
        self.answer(request, |content| place(Reader::new(content, "the place of a stream")))
    }

    /// Returns the abilities of the server. It is asked only if it knows the question.
    pub fn abilities(&mut self) -> Result<Abilities, ClientError> {
        if !self.0.connection_mut().is_at_least((3, 11)) {
            return Ok(Abilities::default());
        }
        let request = self.0.connection_mut().ask_for_versions();
        self.answer(request, |content| abilities(Reader::new(content, "the versions of commands")))
    }

    fn answer<T>(
        &mut self,
        request: u32,
        read: impl Fn(&[u8]) -> Result<T, ClientError>,
    ) -> Result<T, ClientError> {
        let answer = self.0.wait(|event| match event {
            Event::Answer { correlation, code, content } if correlation == request => {
                let is_ok = code == Code::OK;
                Some(if is_ok { read(content) } else { Err(ClientError::Refused(code)) })
            }
            _ => None,
        });
        answer?
    }

    /// Returns the socket, the connection, and the bytes that were read and not processed.
    pub fn into_parts(self) -> (S, Connection, Vec<u8>) {
        self.0.into_parts()
    }
}

/// Reads commands, each with its first and last version.
fn abilities(mut content: Reader<'_>) -> Result<Abilities, ClientError> {
    // The servers that know the question have them. Their list has no commands that they send themselves.
    let mut found = Abilities { single_active_consumers: true, filters: false };
    let mut read = || {
        for _ in 0..content.count(2 + 2 + 2)? {
            let (key, _, last) = (content.u16()?, content.u16()?, content.u16()?);
            found.filters |= key == PUBLISH && last >= FILTER_VERSION;
        }
        Ok(())
    };
    read().map_err(|error| ClientError::Connection(ConnectionError::Malformed(error)))?;
    Ok(found)
}

/// Reads an answer about one stream: nodes with their numbers, then the numbers of its leader and replicas.
fn place(mut content: Reader<'_>) -> Result<Place, ClientError> {
    let mut nodes = Vec::new();
    let malformed = |error| ClientError::Connection(ConnectionError::Malformed(error));
    let mut read = || {
        for _ in 0..content.count(2 + 2 + 4)? {
            let number = content.u16()?;
            let host = content.text()?.to_owned();
            nodes.push((number, (host, u16::try_from(content.u32()?).unwrap_or(0))));
        }
        let streams = content.count(2 + 2 + 2 + 4)?;
        if streams != 1 {
            return Err(content.malformed());
        }
        content.text()?;
        let (code, leader) = (Code(content.u16()?), content.u16()?);
        let count = content.count(2)?;
        let replicas = (0..count).map(|_| content.u16()).collect::<Result<Vec<_>, _>>()?;
        Ok((code, leader, replicas))
    };
    let (code, leader, replicas) = read().map_err(malformed)?;
    if code != Code::OK {
        return Err(ClientError::Refused(code));
    }
    let node = |number: u16| nodes.iter().find(|node| node.0 == number).map(|node| node.1.clone());
    Ok(Place { leader: node(leader), replicas: replicas.into_iter().filter_map(node).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rabbitscope_protocol::Write as _;

    use crate::codec::WriteTexts as _;

    #[test]
    fn abilities_follow_from_the_versions_of_commands() {
        let said = |commands: &[[u16; 3]]| {
            let mut out = Vec::new();
            out.put_u32(u32::try_from(commands.len()).unwrap());
            commands.iter().flatten().for_each(|number| out.put_u16(*number));
            abilities(Reader::new(&out, "it")).unwrap()
        };
        let abilities = |filters: bool| Abilities { single_active_consumers: true, filters };
        assert_eq!(said(&[[PUBLISH, 1, 1]]), abilities(false));
        assert_eq!(said(&[[FILTER_VERSION, 1, 2], [PUBLISH, 1, 2]]), abilities(true));
    }

    fn answer(code: u16) -> Vec<u8> {
        let mut out = Vec::new();
        out.put_u32(2);
        for (number, host) in [(0, "a"), (1, "b")] {
            out.put_u16(number);
            out.put_text(host);
            out.put_u32(5552 + u32::from(number));
        }
        out.put_u32(1);
        out.put_text("orders");
        out.put_u16(code);
        out.put_u16(1);
        out.put_u32(2);
        out.put_u16(0);
        out.put_u16(7);
        out
    }

    #[test]
    fn the_place_of_a_stream_has_leader_and_known_replicas() {
        let found = place(Reader::new(&answer(1), "it")).unwrap();
        let expected =
            Place { leader: Some(("b".to_owned(), 5553)), replicas: vec![("a".to_owned(), 5552)] };
        assert_eq!(found, expected);
        let refused = place(Reader::new(&answer(2), "it")).unwrap_err();
        assert_eq!(refused.to_string(), "stream does not exist (2)");
        let cut = &answer(1)[..20];
        assert!(place(Reader::new(cut, "it")).is_err());
    }
}
