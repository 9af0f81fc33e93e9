//! Begin and end of sessions, links and the connection, as the broker tells them.

use super::{
    lane::{Link, Stage},
    state::{Connection, Phase},
};
use rabbitscope_protocol::Malformed;

use crate::{
    codec::{Descriptor, Fields, Value, write_frame},
    error::{ConnectionError, Refusal},
    event::Event,
    filter::Filter,
    protocol::codes::{AMQP_FRAME, ATTACH, BEGIN, CLOSE, ERROR, SOURCE, TARGET},
};

type Answer = Result<Option<Event<'static>>, ConnectionError>;

impl Connection {
    /// Returns the session that the broker means by one of its channels.
    #[inline]
    pub(super) fn lane_of(&self, channel: u16, code: u8) -> Result<u16, ConnectionError> {
        let lane = self.lane_of_channel.get(usize::from(channel)).copied().flatten();
        lane.ok_or(ConnectionError::Unexpected { code: code.into() })
    }

    pub(super) fn on_begin(
        &mut self,
        channel: u16,
        mut fields: Fields<'_>,
    ) -> Result<(), ConnectionError> {
        let unexpected = ConnectionError::Unexpected { code: BEGIN.into() };
        let lane = fields.uint()?.and_then(|lane| u16::try_from(lane).ok());
        let lane = lane.filter(|_| channel <= self.channel_max).ok_or(unexpected.clone())?;
        let state = self.lane_mut(lane).ok_or(unexpected)?;
        state.window.begin(fields.required_uint()?, fields.required_uint()?);
        let index = usize::from(channel);
        if self.lane_of_channel.len() <= index {
            self.lane_of_channel.resize(index + 1, None);
        }
        self.lane_of_channel[index] = Some(lane);
        Ok(())
    }

    pub(super) fn on_attach(&mut self, channel: u16, mut fields: Fields<'_>) -> Answer {
        let lane = self.lane_of(channel, ATTACH)?;
        if self.is_renewal(lane) {
            return self.on_attach_of_renewal(lane, fields).map(|()| None);
        }
        let release = self.release;
        let Some(state) = self.lane_mut(lane) else { return Ok(None) };
        if state.stage != Stage::Attaching {
            return Ok(None);
        }
        // `name`, `handle`, `role`, `snd-settle-mode`, `rcv-settle-mode`
        fields.skip(5)?;
        let (source, target) = (fields.described_list()?, fields.described_list()?);
        // `unsettled`, `incomplete-unsettled`
        fields.skip(2)?;
        let count = fields.uint()?.unwrap_or(0);
        let is_attached = match &mut state.link {
            Link::Sender(_) | Link::Renewal(_) => {
                target.is_some_and(|(code, _)| code == TARGET.into())
            }
            Link::Receiver(link) => {
                link.attached(count);
                let source = source.filter(|(code, _)| *code == u64::from(SOURCE));
                let is_attached = source.is_some();
                let present = source.map(|(_, fields)| filters(fields)).transpose()?;
                let is_present = |name: &&str| present.iter().flatten().any(|one| one == name);
                link.filters
                    .retain(|name| Filter::first_release(name) > release || !is_present(name));
                is_attached
            }
        };
        if !is_attached {
            state.stage = Stage::Refused;
            return Ok(None);
        }
        state.stage = Stage::Attached;
        if matches!(state.link, Link::Receiver(_)) {
            self.write_flow(lane);
        }
        Ok(Some(Event::Attached { lane }))
    }

    /// Handles the end of a link, after which its session has no purpose.
    pub(super) fn on_detach(&mut self, channel: u16, mut fields: Fields<'_>) -> Answer {
        let Ok(lane) = self.lane_of(channel, ATTACH) else { return Ok(None) };
        let Some(state) = self.lane_mut(lane) else { return Ok(None) };
        let has_asked = state.stage == Stage::Detaching;
        // `handle`, `closed`
        fields.skip(2)?;
        let refusal = refusal(fields)?;
        if self.is_renewal(lane) {
            self.on_detach_of_renewal(lane, &refusal);
            return Ok(None);
        }
        if !has_asked {
            self.write_detach(lane);
        }
        self.write_end(lane);
        let address = self.forget(channel, lane);
        Ok(Some(if has_asked {
            Event::Detached { lane }
        } else {
            Event::Ended { lane, address, refusal }
        }))
    }

    /// Handles the end of a session, which the broker also uses to refuse a link.
    pub(super) fn on_end(&mut self, channel: u16, fields: Fields<'_>) -> Answer {
        // The answer to an `end` of this client has no session any more.
        let Ok(lane) = self.lane_of(channel, ATTACH) else { return Ok(None) };
        if self.lane(lane).is_none() {
            return Ok(None);
        }
        let refusal = refusal(fields)?;
        if self.is_renewal(lane) {
            self.on_end_of_renewal(channel, lane, &refusal);
            return Ok(None);
        }
        self.write_end(lane);
        let address = self.forget(channel, lane);
        Ok(Some(Event::Ended { lane, address, refusal }))
    }

    /// Forgets a session, and returns the address of its link.
    pub(super) fn forget(&mut self, channel: u16, lane: u16) -> String {
        self.lane_of_channel[usize::from(channel)] = None;
        self.lanes[usize::from(lane)].take().map_or_else(String::new, |state| state.address)
    }

    pub(super) fn on_close(
        &mut self,
        fields: Fields<'_>,
    ) -> Result<Event<'static>, ConnectionError> {
        let has_asked = self.phase == Phase::Closing;
        self.phase = Phase::Closed;
        if has_asked {
            return Ok(Event::Closed);
        }
        let refusal = refusal(fields)?;
        self.write_close();
        Err(ConnectionError::ClosedByBroker(refusal))
    }

    pub(super) fn write_close(&mut self) {
        write_frame(self.output.end(), AMQP_FRAME, 0, Some(CLOSE), |_| {});
    }
}

/// Returns the names of the filters of a source.
fn filters(mut source: Fields<'_>) -> Result<Vec<&str>, Malformed> {
    // `address`, `durable`, `expiry-policy`, `timeout`, `dynamic`, its properties, `distribution-mode`
    source.skip(7)?;
    let Value::Map(filters) = source.value()? else { return Ok(Vec::new()) };
    let present = filters.pairs().filter(|(_, value)| !matches!(value, Value::Null));
    Ok(present.filter_map(|(name, _)| name.words()).collect())
}

/// Returns the next field, which is an error or absent.
fn refusal(mut fields: Fields<'_>) -> Result<Refusal, Malformed> {
    let Value::Described(Descriptor::Code(code), mut value) = fields.value()? else {
        return Ok(Refusal::default());
    };
    let Value::List(mut error) = value.value()? else { return Ok(Refusal::default()) };
    if code != u64::from(ERROR) {
        return Ok(Refusal::default());
    }
    let mut words = || Ok::<_, Malformed>(error.value()?.words().unwrap_or_default().to_owned());
    Ok(Refusal { condition: words()?, description: words()? })
}
