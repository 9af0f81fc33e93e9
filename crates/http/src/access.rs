//! Decides on access to a request: its host, its credentials, its method.

use std::net::IpAddr;

use super::{Host, Request, Response, Status, authorization::Authorization};

/// Requirements for access to a server.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    pub(crate) authorization: Option<Authorization>,
    /// Allowed hosts, in addition to this machine's own.
    pub(crate) hosts: Vec<Host>,
}

impl Access {
    /// Returns the response to a request without access, or `None` for a request with access. `local` is the server's
    /// address.
    pub(crate) fn refusal(&self, request: &Request, local: IpAddr) -> Option<Response> {
        if !request.hosts.iter().all(|host| host.is_ours(local, &self.hosts)) {
            let reason = "this server does not go by that name; --allow-host NAME lets it";
            return Some(Response::text(Status::MISDIRECTED, reason));
        }
        if let Some(expected) = &self.authorization
            && !expected.lets_in(request.authorization.as_deref())
        {
            let reason = "a token, or a user and a password are needed";
            let response = Response::text(Status::UNAUTHORIZED, reason);
            return Some(response.with_header("WWW-Authenticate", expected.challenge()));
        }
        if !request.is_get && !request.is_head {
            let response = Response::text(Status::METHOD_NOT_ALLOWED, "only GET and HEAD");
            return Some(response.with_header("Allow", "GET, HEAD".to_owned()));
        }
        None
    }
}
