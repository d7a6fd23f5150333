//! Replies of Thrift and any bytes, into a connection with calls in flight.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| rpcbench_engine::fuzzing::thrift(bytes));
