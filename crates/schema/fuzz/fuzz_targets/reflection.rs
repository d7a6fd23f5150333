//! Answers of a server to the questions of reflection.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| rpcbench_schema::fuzzing::reflection(bytes));
