//! The connections that a scenario needs, and the group members that use each of them.

mod churn;
mod claim;
mod consumer_plan;
mod link_plan;
mod links;
mod placement;

pub(crate) use churn::{ChurnMembers, churned_bindings, churned_connections, churned_queues};
pub(crate) use claim::foreign_claim;
pub(crate) use consumer_plan::ConsumerPlan;
pub(crate) use link_plan::{LinkPlan, Members};
pub(crate) use links::plan_links;
pub use links::planned_connections;
pub(crate) use placement::Placement;
