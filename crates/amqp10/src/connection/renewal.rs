//! A new token on an open connection: a request to the broker's management over a pair of links.
//!
//! The request is `PUT /auth/tokens` of HTTP over AMQP, which RabbitMQ has since 4.1. The pair has a session of its own,
//! behind those of the members, and ends with the answer.

use rabbitscope_protocol::sections;

use super::{
    lane::{HANDLE, Lane, Link, Stage},
    renewal_state::Renewal,
    send::{begin_attach, put_terminus},
    sender::FIRST,
    state::{Connection, Mechanism, Phase},
    window::INCOMING_WINDOW,
};
use crate::{
    codec::{Fields, Write as _, end_frame, write_frame},
    error::{ConnectionError, Refusal},
    message::{received, write_request},
    protocol::codes::{AMQP_FRAME, ATTACH, FLOW, SOURCE, TARGET, TRANSFER},
};

/// First release with this request.
const FIRST_RELEASE: (u32, u32) = (4, 1);

/// Address of the broker's management, and that of this side.
const MANAGEMENT: &str = "/management";
const CLIENT: &str = "token";

/// The link of the answers. That of the requests has the usual handle.
const ANSWERS: u32 = 1;

/// Links of the pair.
const LINKS: u8 = 2;

/// Answers that the broker may send: a session has few.
const CREDIT: u32 = 8;

/// `snd-settle-mode` of both links: nobody says the fate of requests.
const SETTLED: u8 = 1;

/// The status of success: there is no content.
const SUCCESS: &str = "204";

impl Connection {
    /// Gives the broker another token, if it takes one and has a session to spare.
    pub(super) fn renew_token(&mut self, token: &str) {
        let is_plain = self.login.mechanism == Mechanism::Plain;
        let lane = self.login.sessions;
        if self.phase != Phase::Open
            || !is_plain
            || self.release < FIRST_RELEASE
            || lane > self.channel_max
        {
            return;
        }
        if let Some(renewal) = self.renewal_mut(lane) {
            // The answer to an earlier token is due. This one follows it.
            renewal.token = Some(token.to_owned());
            return;
        }
        let renewal = Renewal { token: Some(token.to_owned()), ..Renewal::default() };
        self.begin(lane, Lane::new(Link::Renewal(renewal), MANAGEMENT));
        for is_receiver in [false, true] {
            let handle = if is_receiver { ANSWERS } else { HANDLE };
            let (source, target) =
                if is_receiver { (MANAGEMENT, CLIENT) } else { (CLIENT, MANAGEMENT) };
            write_frame(self.output.end(), AMQP_FRAME, lane, Some(ATTACH), |list| {
                begin_attach(list, (CLIENT, handle), is_receiver, SETTLED);
                list.put(|out| put_terminus(out, SOURCE, Some(source), |_| {}));
                list.put(|out| put_terminus(out, TARGET, Some(target), |_| {}));
                // `unsettled`, `incomplete-unsettled`
                list.nulls(2);
                list.put_some((!is_receiver).then_some(FIRST.0), Vec::put_uint);
                // `max-message-size`, capabilities
                list.nulls(3);
                list.put(|out| {
                    out.put_map(|map| {
                        map.put(|out| out.put_symbol("paired"));
                        map.put(|out| out.put_boolean(true));
                    });
                });
            });
        }
    }

    fn renewal_mut(&mut self, lane: u16) -> Option<&mut Renewal> {
        match self.lane_mut(lane).map(|state| &mut state.link) {
            Some(Link::Renewal(renewal)) => Some(renewal),
            _ => None,
        }
    }

    /// Returns whether a session belongs to a renewal.
    pub(super) fn is_renewal(&self, lane: u16) -> bool {
        matches!(self.lane(lane).map(|state| &state.link), Some(Link::Renewal(_)))
    }

    /// Handles the broker's `attach` of a link of the pair.
    pub(super) fn on_attach_of_renewal(
        &mut self,
        lane: u16,
        mut fields: Fields<'_>,
    ) -> Result<(), ConnectionError> {
        // `name`, `handle`, `role`, `snd-settle-mode`, `rcv-settle-mode`
        fields.skip(5)?;
        let is_attached = fields.described_list()?.is_some() && fields.described_list()?.is_some();
        let Some(renewal) = self.renewal_mut(lane) else { return Ok(()) };
        renewal.attached += u8::from(is_attached);
        if renewal.attached == LINKS {
            self.write_credit(lane);
            self.send_token(lane);
        }
        Ok(())
    }

    /// Permits the broker to answer.
    fn write_credit(&mut self, lane: u16) {
        let Some(window) = self.lane(lane).map(|state| state.window) else { return };
        write_frame(self.output.end(), AMQP_FRAME, lane, Some(FLOW), |list| {
            list.put(|out| out.put_uint(window.next_incoming.0));
            list.put(|out| out.put_uint(INCOMING_WINDOW));
            list.put(|out| out.put_uint(window.next_outgoing.0));
            list.put(|out| out.put_uint(INCOMING_WINDOW));
            list.put(|out| out.put_uint(ANSWERS));
            list.put(|out| out.put_uint(FIRST.0));
            list.put(|out| out.put_uint(CREDIT));
        });
    }

    /// Sends the waiting token, or ends the session if there is none.
    fn send_token(&mut self, lane: u16) {
        let Some(Some(Lane { window, link: Link::Renewal(renewal), stage, .. })) =
            self.lanes.get_mut(usize::from(lane))
        else {
            return;
        };
        let out = self.output.end();
        let Some(token) = renewal.token.take() else {
            *stage = Stage::Detaching;
            return self.write_end(lane);
        };
        let number = renewal.sent;
        let at = out.len();
        write_frame(out, AMQP_FRAME, lane, Some(TRANSFER), |list| {
            list.put(|out| out.put_uint(HANDLE));
            list.put(|out| out.put_uint(number));
            list.put(|out| out.put_binary(&number.to_be_bytes()));
            // `message-format`
            list.put(|out| out.put_uint(0));
            // `settled`
            list.put(|out| out.put_boolean(true));
        });
        write_request(out, &number.to_string(), ("PUT", "/auth/tokens"), token.as_bytes());
        if out.len() - at > self.frame_max as usize {
            out.truncate(at);
            self.renewals.refusal = Some("it is larger than a frame of the broker".to_owned());
            return self.send_token(lane);
        }
        end_frame(out, at);
        renewal.sent += 1;
        window.sent(1);
    }

    /// Handles the answer of the broker's management.
    pub(super) fn on_answer(&mut self, lane: u16, answer: &[u8]) -> Result<(), ConnectionError> {
        let Some(Lane { window, link: Link::Renewal(_), stage, .. }) = self.lane_mut(lane) else {
            return Err(ConnectionError::Unexpected { code: TRANSFER.into() });
        };
        window.received();
        if *stage == Stage::Detaching {
            return Ok(());
        }
        match received::subject(answer) {
            Some(SUCCESS) => self.renewals.taken += 1,
            status => {
                let words = String::from_utf8_lossy(sections::body(answer).unwrap_or_default());
                let words = format!("{} {words}", status.unwrap_or("no status"));
                self.renewals.refusal = Some(words.trim().to_owned());
            }
        }
        self.send_token(lane);
        Ok(())
    }

    /// Handles the end of a link of the pair, for which the broker has a reason.
    pub(super) fn on_detach_of_renewal(&mut self, lane: u16, refusal: &Refusal) {
        self.renewals.refusal = Some(refusal.to_string());
        if let Some(state) = self.lane_mut(lane) {
            state.stage = Stage::Detaching;
            self.write_end(lane);
        }
    }

    /// Handles the end of the session.
    pub(super) fn on_end_of_renewal(&mut self, channel: u16, lane: u16, refusal: &Refusal) {
        let has_asked = self.lane(lane).is_some_and(|state| state.stage == Stage::Detaching);
        let waiting = self.renewal_mut(lane).and_then(|renewal| renewal.token.take());
        if !has_asked {
            self.write_end(lane);
            self.renewals.refusal = Some(refusal.to_string());
        }
        self.forget(channel, lane);
        if let Some(token) = waiting.filter(|_| has_asked) {
            self.renew_token(&token);
        }
    }
}
