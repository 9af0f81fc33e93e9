//! Who is let in: the server that they mean, the secret that they know, what they want to do.

use std::net::IpAddr;

use super::{Host, Request, Response, Status, authorization::Authorization};

/// What a request has to bring.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    pub(crate) authorization: Option<Authorization>,
    /// Besides those that always are ours.
    pub(crate) hosts: Vec<Host>,
}

impl Access {
    /// The answer to a request that is not let in. `local` is the address it came to.
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
