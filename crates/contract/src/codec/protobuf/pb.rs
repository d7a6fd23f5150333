//! The messages of `contract/echo.proto`.

include!(concat!(env!("OUT_DIR"), "/rpcbench.v1.rs"));
