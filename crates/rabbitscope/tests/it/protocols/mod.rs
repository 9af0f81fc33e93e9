//! Cases that the tests of several protocols share. Each protocol has its own tests, which name their load here.

pub(crate) mod faults;
pub(crate) mod logins;
