//! Lost messages, lost connections and lost service: a run finds them, and reports no others.

mod cluster_faults;
mod floods;
mod outages;
mod recovery;
mod verification;
