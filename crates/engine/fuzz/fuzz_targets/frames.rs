//! Frames, mostly well formed, into a connection whose every word is checked.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| rpcbench_engine::fuzzing::frames(bytes));
