//! The children of a resource, built without a cluster.

mod case;
mod golden;
mod rbac;
mod start_script;
mod transitions;
mod values;
