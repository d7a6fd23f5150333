//! The binary, end to end: real processes, real sockets, and cgroups where rights allow.

mod arguments;
mod bad_days;
mod bench;
mod changes;
mod client_bound;
mod counts;
mod disk_full;
mod interrupts;
mod kernel;
mod latency;
mod lies;
mod load;
mod load_results;
mod memory;
mod processes;
mod program;
mod protocols;
mod ranks;
mod readme;
mod records;
mod serve;
mod slo;
mod testkit;
mod truth;
mod views;
mod warm_up;
