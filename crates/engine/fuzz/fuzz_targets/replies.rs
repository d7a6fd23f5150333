//! Replies of HTTP/1.1, mostly well formed, into connections with calls in flight.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| rpcbench_engine::fuzzing::replies(bytes));
