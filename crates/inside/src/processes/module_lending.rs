//! A module that one thread has on a node, and whose functions another thread calls.

use std::{
    sync::mpsc::{Receiver, Sender, channel},
    time::Duration,
};

/// The end of the thread that loads and removes the module. If it is dropped without a module, the other thread loads its
/// own.
#[derive(Debug)]
pub struct ModuleLender {
    names: Sender<String>,
    returned: Receiver<()>,
}

/// The end of the thread that calls the functions. Its drop gives the module back.
#[derive(Debug)]
pub struct ModuleBorrower {
    names: Receiver<String>,
    _in_use: Sender<()>,
}

/// Creates both ends.
pub fn module_lending() -> (ModuleLender, ModuleBorrower) {
    let (in_use, returned) = channel();
    let (sender, names) = channel();
    (ModuleLender { names: sender, returned }, ModuleBorrower { names, _in_use: in_use })
}

impl ModuleLender {
    /// Lends the module that has this name on the node.
    pub fn lend(&self, module: &str) {
        // Without a borrower there is nothing to lend.
        let _ = self.names.send(module.to_owned());
    }

    /// Waits until the borrower has given the module back, at most `within`.
    pub fn wait_for_return(self, within: Duration) {
        let _ = self.returned.recv_timeout(within);
    }
}

impl ModuleBorrower {
    /// Waits for the name of the module. `None` if the lender has no module.
    pub(super) fn module(&self) -> Option<String> {
        self.names.recv().ok()
    }
}

#[cfg(test)]
mod tests {
    use std::{thread, time::Instant};

    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn a_lender_waits_for_the_return() {
        let (lender, borrower) = module_lending();
        lender.lend("m");
        let thread = thread::spawn(move || borrower.module());
        lender.wait_for_return(LONG);
        assert_eq!(thread.join().unwrap().as_deref(), Some("m"));
    }

    #[test]
    fn neither_end_waits_for_one_that_is_gone() {
        let (lender, borrower) = module_lending();
        drop(lender);
        assert_eq!(borrower.module(), None);
        let (lender, borrower) = module_lending();
        drop(borrower);
        lender.lend("m");
        lender.wait_for_return(LONG);
    }

    #[test]
    fn a_lender_does_not_wait_forever() {
        let (lender, _borrower) = module_lending();
        let begin = Instant::now();
        lender.wait_for_return(Duration::from_millis(10));
        assert!(begin.elapsed() < LONG);
    }
}
