//! What the session declared, declared again after the broker has lost it.

use std::{sync::Mutex, time::Instant};

use crate::{
    LoadError,
    dial::Dialer,
    topology::{Declarations, Topology},
};

/// The session's own connection and what was declared over it. Queues that are exclusive and have no
/// consumer belong to that connection.
#[derive(Debug)]
pub(crate) struct Restorer {
    declarations: Declarations,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    control: Option<Topology>,
    restored: Instant,
}

impl Restorer {
    pub(crate) fn new(control: Topology, declarations: Declarations) -> Self {
        let state = State { control: Some(control), restored: Instant::now() };
        Self { declarations, state: Mutex::new(state) }
    }

    /// Makes sure that everything is there for a connection that was lost at `lost`. Of many that
    /// were lost together the first to come back does it; the others wait and find it done.
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

    fn declare(&self, control: &mut Topology) -> Result<(), LoadError> {
        control.create(&self.declarations)
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

    /// Says goodbye; a broker that does not answer is no matter.
    pub(crate) fn close(self) {
        let state = self.state.into_inner().expect("restoring does not panic");
        state.control.into_iter().for_each(Topology::close);
    }
}
