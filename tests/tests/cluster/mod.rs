//! The CRDs and the checks against a real API server.

mod agreement;
mod compare;
mod crd;
mod editor;
mod features;
mod mutate;
mod ogx;
mod starter;
