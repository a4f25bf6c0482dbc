//! The CRD and the checks against a real API server.

mod crd;
mod starter;
