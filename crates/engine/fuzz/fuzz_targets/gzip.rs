//! Compressed replies through our decompression and another one.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| rpcbench_engine::fuzzing::gzip(bytes));
