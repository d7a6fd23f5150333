//! Descriptor sets, which users and servers give.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| rpcbench_schema::fuzzing::descriptors(bytes));
