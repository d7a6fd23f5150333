//! Manifests, builds, servers and runs.

mod build;
mod conformance;
mod counters;
mod manifest;
mod placement;
mod process;
mod profiles;
mod repository;
mod runtime_log;
mod runtime_oracles;
mod scripted_run;
mod support;
