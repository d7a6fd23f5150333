//! The messages of `contract/echo.proto`.

#![allow(missing_docs, clippy::all)]

include!(concat!(env!("OUT_DIR"), "/rpcbench.v1.rs"));
