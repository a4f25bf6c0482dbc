//! Configs of this project against the real llama-stack. `tests/server/setup.sh` installs it.

mod catalog;
mod configs;
mod disabled;
mod migration;
mod oracle;
mod parity;
mod samples;
mod start;
mod stores;
mod types;
mod versions;
