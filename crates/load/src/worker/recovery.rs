//! The reaction of a worker to the loss of a connection, and to its replacement.

use mio::Token;
use rabbitscope_measurements::Failure;

use super::{context::WorkerContext, event_loop::Worker, stage::Stage};
use crate::connect::LostConnection;

impl Worker {
    /// Handles the failure of a connection. A loss goes to the reconnector if the scenario allows recovery. Every other
    /// failure ends the run.
    pub(super) fn on_disconnect(
        &mut self,
        index: usize,
        failure: Failure,
        context: &WorkerContext<'_>,
    ) -> Result<(), Failure> {
        context.shared.service.failed(failure.kind, context.now(), &failure.reason);
        let Some(reconnector) = context.reconnector.filter(|_| failure.is_loss) else {
            return Err(failure);
        };
        let link = &mut self.links[index];
        let mut serve = self.interval.serve_context(&mut self.pacing.limiter, context);
        link.on_disconnect(&failure, &mut serve);
        context.shared.count_done(serve.outcome.done);
        let now = serve.now;
        link.deregister(self.poll.registry());
        let attempts = self.reconnections.backoffs[index].lost(now);
        let is_wanted = match self.stage {
            Stage::Load { .. } => true,
            Stage::Drain { .. } => context.awaits_empty && link.is_consuming(),
            Stage::Close { .. } => false,
        };
        if is_wanted {
            reconnector.submit(LostConnection::now(self.number, index, link.plan, attempts));
        }
        Ok(())
    }

    /// Takes over replaced connections.
    pub(super) fn on_reconnect(&mut self, context: &WorkerContext<'_>) -> Result<(), Failure> {
        while let Ok((index, prepared)) = self.reconnections.received.try_recv() {
            let link = &mut self.links[index];
            let (before, after) = (link.frame_max(), prepared.frame_max());
            if before != after {
                return Err(Failure::wrong(format!(
                    "the broker agreed on frames of {before} bytes at first, but of {after} bytes after a reconnect"
                )));
            }
            let mut serve = self.interval.serve_context(&mut self.pacing.limiter, context);
            link.on_reconnect(prepared, &mut serve);
            self.reconnections.backoffs[index].up_since = serve.now;
            let registered = link.register(self.poll.registry(), Token(index));
            registered
                .map_err(|error| Failure::wrong(format!("cannot wait for a socket: {error}")))?;
            self.ready.push(index);
        }
        Ok(())
    }
}
