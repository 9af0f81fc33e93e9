//! Judgements about the roots of flow control, for the rules of this folder.

use crate::{
    case::{Case, Flow, FlowProcess},
    finding::{Evidence, Severity},
    flow::{DirectRoot, direct_roots},
    rules::{
        bound,
        look::{self, Look},
        names,
    },
};

/// Share of the looks in which a process must wait for a root.
const WAITING: f64 = 0.3;
/// Share of a root's time, by looks or in cores, from which its own work is the reason.
const BUSY: f64 = 0.5;
/// Share of a root's time from which it has hardly any left.
const FULL: f64 = 0.8;

/// Share of the looks with as many waiting processes as schedulers, from which schedulers are crowded.
const CROWDED: f64 = 0.3;

/// A root, and the processes that it blocks.
pub(crate) type Root<'a> = DirectRoot<'a>;

/// Returns the roots, the worst first.
pub(crate) fn roots(flow: &Flow) -> Vec<Root<'_>> {
    direct_roots(flow, WAITING)
}

impl Root<'_> {
    /// Returns whether the root is a process of one of these roles.
    pub(crate) fn has_role(&self, roles: &[&str]) -> bool {
        self.process.is_some_and(|process| roles.contains(&process.role.as_str()))
    }

    /// Returns whether the root's own work keeps it busy.
    pub(crate) fn is_busy(&self, case: &Case) -> bool {
        self.work(case) >= BUSY
    }

    /// Returns the severity by the root's own work: a root with time to spare costs little.
    pub(crate) fn severity(&self, case: &Case) -> Severity {
        if self.work(case) >= FULL { Severity::Warning } else { Severity::Note }
    }

    /// Returns the busy share of the root, by looks or by samples, the larger one. By looks, a process is also busy
    /// while it waits for a scheduler, so with crowded schedulers samples alone count.
    fn work(&self, case: &Case) -> f64 {
        let is_crowded = case.vm.as_ref().is_ok_and(|vm| vm.crowded_share >= CROWDED);
        let by_looks = self.process.and_then(FlowProcess::busy_share);
        let by_looks = by_looks.filter(|_| !is_crowded || case.cpu.is_err());
        by_looks.into_iter().chain(self.cores(case)).fold(0.0, f64::max)
    }

    /// Returns the root's CPU time in cores, if it has a row.
    pub(crate) fn cores(&self, case: &Case) -> Option<f64> {
        let cpu = case.cpu.as_ref().ok()?;
        Some(bound::process(cpu, &self.process?.pid)?.cores)
    }

    /// Returns the figures: the most blocked processes, and the root's work.
    pub(crate) fn evidence(&self, case: &Case, flow: &Flow) -> Vec<Evidence> {
        /// Blocked processes that have a figure of their own.
        const NAMED: usize = 3;
        let look = Look::flow(flow);
        let blocked = self.blocked.iter().take(NAMED);
        let mut figures: Vec<_> = blocked
            .map(|(process, share)| {
                let name = names::flow_process(process);
                look.says(format!("{name} waits for it {} of the time", look::percent(*share)))
            })
            .collect();
        if let Some((process, busy)) = self.process.and_then(|own| Some((own, own.busy_share()?))) {
            let mailbox = process.mailbox;
            let busy = look::percent(busy);
            figures
                .push(look.says(format!("it is busy in {busy} of the looks, mailbox {mailbox}")));
        }
        if let (Ok(cpu), Some(cores)) = (&case.cpu, self.cores(case)) {
            figures.push(Look::cpu(cpu).says(format!("it uses {}", look::cores(cores))));
        }
        figures
    }
}
