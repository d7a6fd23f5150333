//! Replies, in JSON and as messages, that expectations are checked on.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| rpcbench_schema::fuzzing::expect(bytes));
