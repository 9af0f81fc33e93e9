//! A role with the socket of its connection.

use rabbitscope_measurements::Failure;
use rabbitscope_protocol::{Input, Wire as _};

use super::{
    role::EventHandler,
    serve_context::ServeContext,
    socket::{ReadOutcome, Socket},
};
use crate::connect::Prepared;

/// Reads in a row before other connections are served. Chosen: a busy connection is read at most 2.5 MiB ahead of the
/// others (8 × 320 KiB with frames of 128 KiB).
const READ_ROUNDS: u32 = 8;

/// A role with the socket of its connection.
pub(super) struct Driven<R: EventHandler> {
    pub(super) socket: Socket<R::Wire>,
    pub(super) role: R,
}

impl<R: EventHandler> Driven<R> {
    pub(super) fn new(role: R, prepared: Prepared<R::Wire>) -> Self {
        Self { socket: Socket::new(prepared), role }
    }

    /// Reads available data and sends due messages. Returns true if there is more to do at once.
    pub(super) fn serve(
        &mut self,
        scratch: &mut [u8],
        context: &mut ServeContext<'_>,
    ) -> Result<bool, Failure> {
        self.read(scratch, context)?;
        self.role.run_due_tasks(&mut self.socket, context);
        self.socket.flush(context)?;
        // A congested connection goes on when its socket has room again.
        let more = self.socket.is_readable() && !R::is_congested(&mut self.socket);
        for _ in 0..self.role.write_rounds() {
            let has_sent = self.role.encode(&mut self.socket, context)?;
            self.socket.flush(context)?;
            if !has_sent {
                return Ok(more);
            }
        }
        Ok(more || self.socket.can_publish() && self.role.has_due(context))
    }

    fn read(&mut self, scratch: &mut [u8], context: &mut ServeContext<'_>) -> Result<(), Failure> {
        for _ in 0..READ_ROUNDS {
            if R::is_congested(&mut self.socket) {
                return Ok(());
            }
            let filled = match self.socket.fill(scratch, context)? {
                ReadOutcome::Bytes(filled) => filled,
                ReadOutcome::Nothing => return Ok(()),
                ReadOutcome::Eof if self.socket.is_closed() => return Ok(()),
                ReadOutcome::Eof => {
                    let reason = "the broker closed the connection without a word";
                    return Err(Failure::lost(reason));
                }
            };
            let mut input = Input::new(&scratch[..filled]);
            while let Some(event) =
                self.socket.connection.next_event(&mut input).map_err(Into::into)?
            {
                self.role.on_event(event, &mut self.socket, context)?;
            }
            self.socket.keep(input.rest());
        }
        Ok(())
    }
}
