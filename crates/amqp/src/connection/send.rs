//! Requests and messages to the output.

use super::state::Connection;
use crate::{
    method::{Request, write_request},
    parts::{Content, Route},
    publish::PublishTemplate,
    reply::Addressed,
};

impl Connection {
    /// Appends a request to the output.
    #[inline]
    pub fn request(&mut self, channel: u16, request: &Request<'_>) {
        write_request(self.output.end(), channel, request);
    }

    /// Appends `count` messages to the output; see [`PublishTemplate::append`] for the result.
    #[inline]
    pub fn publish(
        &mut self,
        template: &PublishTemplate,
        count: usize,
    ) -> impl Iterator<Item = &mut [u8]> {
        template.append(&mut self.output, count)
    }

    /// Appends a request or reply with `body` to the output.
    #[inline]
    pub fn send(&mut self, message: &Addressed<'_>, body: &[u8]) {
        message.write(self.output.end(), body, self.limits.frame_max);
    }

    /// Appends a message that is encoded now, with `head` in the place that [`Content`] describes.
    #[inline]
    pub fn publish_parts(&mut self, channel: u16, route: &Route, content: &Content, head: &[u8]) {
        let out = self.output.end();
        route.append(out, channel);
        content.append(out, channel, head);
    }

    /// Appends a message with a body of its own; see [`Content::with_header`] for `head`.
    #[inline]
    pub fn publish_body(
        &mut self,
        channel: u16,
        route: &Route,
        content: &Content,
        head: &[u8],
        body: &[u8],
    ) {
        let frame_max = self.limits.frame_max;
        let out = self.output.end();
        route.append(out, channel);
        content.append_with_body(out, channel, (head, body), frame_max);
    }
}
