//! The operator when things around it fail: afterwards everything is as it should be, nothing is lost, nothing is left
//! over, and the process has neither ended nor kept on working.
//!
//! `LLSD_LONG_FAULTS=1` makes outages as long as they are in earnest: etcd stands still for a minute, not for seconds.

mod fleet;
mod leader;
mod objects;
mod outages;
mod proxy;
mod slow;
