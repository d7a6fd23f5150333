//! The servers of a command.

use clap::Args;
use rpcbench_harness::manifest::Selection;
use rpcbench_record::Protocol;

/// Servers by name, protocol and language.
#[derive(Args, Clone, Debug)]
pub struct SelectionArgs {
    /// Servers by name or glob; NAME@VARIANT is a variant, NAME:PROTOCOL one protocol of several [default: up to twelve,
    /// one for each language and protocol]
    #[arg(value_name = "SERVER")]
    pub servers: Vec<String>,
    /// Only entries of this protocol; repeatable
    #[arg(long, value_name = "PROTOCOL")]
    pub protocol: Vec<Protocol>,
    /// Only servers in this language; repeatable
    #[arg(long, value_name = "LANGUAGE")]
    pub language: Vec<String>,
    /// Every server, in all its variants
    #[arg(long, conflicts_with = "servers")]
    pub all: bool,
}

impl SelectionArgs {
    /// As the catalog takes it.
    #[must_use]
    pub fn selection(&self) -> Selection {
        Selection {
            patterns: self.servers.clone(),
            protocols: self.protocol.clone(),
            languages: self.language.clone(),
            all: self.all,
        }
    }
}
