//! Bytes of a peer, changed and cut, through the handshake and the records of TLS.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| rpcbench_engine::fuzzing::tls(bytes));
