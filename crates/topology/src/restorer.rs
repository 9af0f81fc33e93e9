//! Restoration of a session's topology after the broker has lost it.

use std::{sync::Mutex, time::Instant};

use super::{connection::Topology, declarations::Declarations, owned_topology::OwnedTopology};
use crate::{dial::Dialer, error::TopologyError};

/// The session's own connection and its declarations. Exclusive queues without a consumer belong to that connection.
#[derive(Debug)]
pub struct Restorer {
    declarations: Declarations,
    /// Objects that are marked as this run's. Lost ones are marked again.
    marked: Option<OwnedTopology>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    control: Option<Topology>,
    restored: Instant,
}

impl Restorer {
    /// Restores the objects of `missing`, marked as those of `declared`.
    pub fn new(
        control: Topology,
        declarations: Declarations,
        marked: Option<OwnedTopology>,
    ) -> Self {
        let state = State { control: Some(control), restored: Instant::now() };
        Self { declarations, marked, state: Mutex::new(state) }
    }

    /// Makes sure that the topology exists, for a connection that was lost at `lost`. If many connections were lost
    /// together, the first one to return restores it; the others wait.
    pub fn restore(&self, lost: Instant, dialer: &Dialer) -> Result<(), TopologyError> {
        let mut state = self.state.lock().expect("restoring does not panic");
        if state.restored > lost {
            return Ok(());
        }
        let began = Instant::now();
        // The old connection is preferred if it still works, because exclusive queues are bound to it.
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

    /// Declares the topology again. An object that another program has declared meanwhile under one of our names is
    /// used, but not marked.
    fn declare(&self, control: &mut Topology) -> Result<(), TopologyError> {
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

    /// Returns the number of ready messages in each of these queues. It is absent for queues that do not exist or
    /// belong to others, and if the broker does not answer.
    pub fn depths(&self, queues: &[String], dialer: &Dialer) -> Vec<Option<u64>> {
        let mut state = self.state.lock().expect("restoring does not panic");
        let known = state.control.as_mut().and_then(|control| control.depths(queues).ok());
        known.unwrap_or_else(|| {
            state.control = Topology::connect(dialer).ok();
            let control = state.control.as_mut();
            let depths = control.and_then(|control| control.depths(queues).ok());
            depths.unwrap_or_else(|| vec![None; queues.len()])
        })
    }

    /// Closes the connection. A missing answer of the broker does not matter.
    pub fn close(self) {
        let state = self.state.into_inner().expect("restoring does not panic");
        state.control.into_iter().for_each(Topology::close);
    }
}
