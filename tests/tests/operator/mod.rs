//! The operator as a process, on a real API server with controllers, as a user that has the roles of an installation
//! and no others.

mod bundles;
mod config;
mod creation;
mod deletion;
mod drift;
mod foreign;
mod hostile;
mod kubectl;
mod ogx;
mod process;
mod quiet;
mod refused;
mod secrets;
mod server;
mod settings;
mod setup;
mod status;
mod take_over;
mod user_config;
