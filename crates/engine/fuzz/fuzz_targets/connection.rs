//! Any bytes from a peer, cut anywhere, into a connection with calls in flight.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| rpcbench_engine::fuzzing::connection(bytes));
