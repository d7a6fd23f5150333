//! How calls travel.

use std::fmt;

use clap::ValueEnum;
use rpcbench_contract::Encoding;

/// How calls travel, by the names that `rpcbench load --protocol` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Protocol {
    /// gRPC
    Grpc,
    /// JSON over HTTP/1.1
    Json,
    /// Thrift: the framed transport, the binary protocol
    Thrift,
}

impl Protocol {
    /// What messages are written in.
    #[must_use]
    pub fn encoding(self) -> Encoding {
        match self {
            Self::Grpc => Encoding::Protobuf,
            Self::Json => Encoding::Json,
            Self::Thrift => Encoding::ThriftBinary,
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Grpc => "grpc",
            Self::Json => "json",
            Self::Thrift => "thrift",
        })
    }
}
