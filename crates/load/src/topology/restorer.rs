//! Declares the topology of a session again after the broker has lost it.

use std::{sync::Mutex, time::Instant};

use super::{connection::Topology, declarations::Declarations, owned_topology::OwnedTopology};
use crate::{dial::Dialer, error::LoadError};

/// The session's own connection and what was declared over it. Queues that are exclusive and have no
/// consumer belong to that connection.
#[derive(Debug)]
pub(crate) struct Restorer {
    declarations: Declarations,
    /// What is marked as this run's, and is marked again when it was lost.
    marked: Option<OwnedTopology>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    control: Option<Topology>,
    restored: Instant,
}

impl Restorer {
    pub(crate) fn new(
        control: Topology,
        declarations: Declarations,
        marked: Option<OwnedTopology>,
    ) -> Self {
        let state = State { control: Some(control), restored: Instant::now() };
        Self { declarations, marked, state: Mutex::new(state) }
    }

    /// Makes sure that the topology exists, for a connection that was lost at `lost`. When many
    /// were lost together, the first to come back restores it; the others wait.
    pub(crate) fn restore(&self, lost: Instant, dialer: &Dialer) -> Result<(), LoadError> {
        let mut state = self.state.lock().expect("restoring does not panic");
        if state.restored > lost {
            return Ok(());
        }
        let began = Instant::now();
        // The old connection, if it still works: exclusive queues are bound to it.
        let is_done = state.control.as_mut().is_some_and(|control| self.declare(control).is_ok());
        if !is_done {
            state.control = None;
            let mut control = Topology::connect(dialer)?;
            self.declare(&mut control)?;
            state.control = Some(control);
        }
        state.restored = began;
        Ok(())
    }

    /// What somebody else has declared meanwhile under a name of ours is used, and not marked.
    fn declare(&self, control: &mut Topology) -> Result<(), LoadError> {
        let Some(marked) = self.marked.as_ref().filter(|marked| !marked.is_empty()) else {
            return control.create_again(&self.declarations);
        };
        let lost = control.lost(&self.declarations)?;
        control.create_again(&self.declarations)?;
        // An object without a marker is kept at the end, and reported.
        control.mark_alive(marked)?.ok();
        control.mark_again(marked, &lost)?.ok();
        Ok(())
    }

    /// Messages in each of these queues that are ready for consumers; absent for those that are not
    /// there or belong to others, and when the broker cannot be asked.
    pub(crate) fn depths(&self, queues: &[String], dialer: &Dialer) -> Vec<Option<u64>> {
        let mut state = self.state.lock().expect("restoring does not panic");
        let known = state.control.as_mut().and_then(|control| control.depths(queues).ok());
        known.unwrap_or_else(|| {
            state.control = Topology::connect(dialer).ok();
            let control = state.control.as_mut();
            let depths = control.and_then(|control| control.depths(queues).ok());
            depths.unwrap_or_else(|| vec![None; queues.len()])
        })
    }

    /// Closes the connection. It does not matter when the broker does not answer.
    pub(crate) fn close(self) {
        let state = self.state.into_inner().expect("restoring does not panic");
        state.control.into_iter().for_each(Topology::close);
    }
}
