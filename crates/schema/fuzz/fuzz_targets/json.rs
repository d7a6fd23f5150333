//! Requests in protobuf's JSON.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| rpcbench_schema::fuzzing::json(bytes));
