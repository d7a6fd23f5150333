//! Records on disk.

mod interim_analysis;
mod json_schema;
mod sample;
mod store;
