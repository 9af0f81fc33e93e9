//! Decides on access to a request: its host, its origin, its token, its credentials, its method.

use std::net::IpAddr;

use hyper::http::request::Parts;

use super::{Host, Request, Response, Status, authorization::Authorization, path_token::PathToken};

/// Requirements for access to a server.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    pub(crate) authorization: Option<Authorization>,
    /// Allowed hosts, in addition to this machine's own.
    pub(crate) hosts: Vec<Host>,
    /// The token that every path begins with.
    pub(crate) path_token: Option<PathToken>,
}

impl Access {
    /// Returns the request behind a head, or the response to a head without access. `local` is the server's address.
    pub(crate) fn admitted(&self, head: &Parts, local: IpAddr) -> Result<Request, Response> {
        let mut request = Request::parse(head)?;
        if let Some(refusal) = self.refusal(&request, local) {
            return Err(refusal);
        }
        if let Some(token) = &self.path_token {
            let unknown = "the address is the one that rabbitscope printed, with its token";
            let path = token.rest(&request.path).map(str::to_owned);
            request.path = path.ok_or_else(|| Response::text(Status::NOT_FOUND, unknown))?;
        }
        Ok(request)
    }

    fn refusal(&self, request: &Request, local: IpAddr) -> Option<Response> {
        if !request.hosts.iter().all(|host| host.is_ours(local, &self.hosts)) {
            let reason = "this server does not go by that name; --allow-host NAME lets it";
            return Some(Response::text(Status::MISDIRECTED, reason));
        }
        if request.is_of_other_site {
            let reason = "a page of another site may not ask";
            return Some(Response::text(Status::FORBIDDEN, reason));
        }
        if let Some(expected) = &self.authorization
            && !expected.lets_in(request.authorization.as_deref())
        {
            let reason = "a token, or a user and a password are needed";
            let response = Response::text(Status::UNAUTHORIZED, reason);
            return Some(response.with_header("www-authenticate", expected.challenge()));
        }
        if !request.is_get && !request.is_head {
            let response = Response::text(Status::METHOD_NOT_ALLOWED, "only GET and HEAD");
            return Some(response.with_header("allow", "GET, HEAD".to_owned()));
        }
        None
    }
}
