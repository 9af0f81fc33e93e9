//! Lost and recovered connections of a worker.

use mio::Token;

use super::{
    context::WorkerContext,
    event_loop::{Stage, Worker, serve_context},
};
use crate::{connect::LostConnection, report::Failure};

impl Worker {
    /// A connection failed. Only a loss is borne, and only when the scenario says so.
    pub(super) fn on_disconnect(
        &mut self,
        index: usize,
        failure: Failure,
        orders: &WorkerContext<'_>,
    ) -> Result<(), Failure> {
        let now = orders.clock.nanos();
        orders.shared.service.failed(failure.kind, now, &failure.reason);
        let Some(reconnector) = orders.reconnector.filter(|_| failure.is_loss) else {
            return Err(failure);
        };
        let link = &mut self.links[index];
        let mut context =
            serve_context(&mut self.measured, &mut self.recorder, &mut self.limiter, orders);
        link.on_disconnect(&failure, &mut context);
        orders.shared.count_done(&context);
        let now = context.now;
        link.socket().deregister(self.poll.registry());
        let attempts = self.backoffs[index].lost(now);
        let is_wanted = match self.stage {
            Stage::Load => true,
            Stage::Drain { .. } => orders.awaits_empty && link.is_consuming(),
            Stage::Close { .. } => false,
        };
        if is_wanted {
            reconnector.submit(LostConnection::now(self.number, index, link.plan, attempts));
        }
        Ok(())
    }

    /// Takes in connections that were made again.
    pub(super) fn take_reconnected(&mut self, orders: &WorkerContext<'_>) -> Result<(), Failure> {
        while let Ok((index, prepared)) = self.reconnected.try_recv() {
            let link = &mut self.links[index];
            let (before, after) = (link.frame_max(), prepared.frame_max());
            if before != after {
                return Err(Failure::wrong(format!(
                    "the broker agreed on frames of {before} bytes at first and of {after} bytes \
                     when a connection was made again"
                )));
            }
            let mut context =
                serve_context(&mut self.measured, &mut self.recorder, &mut self.limiter, orders);
            link.on_reconnect(prepared, &mut context);
            self.backoffs[index].up_since = context.now;
            let registered = link.socket().register(self.poll.registry(), Token(index));
            registered
                .map_err(|error| Failure::wrong(format!("cannot wait for a socket: {error}")))?;
            self.enqueue(index);
        }
        Ok(())
    }
}
