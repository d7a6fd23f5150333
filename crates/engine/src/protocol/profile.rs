//! What the contract may expect of each protocol.

use rpcbench_contract::Profile;
use rpcbench_record::Protocol;

/// What the contract's cases may expect of `protocol`; its encoding, among others.
#[must_use]
pub fn profile(protocol: Protocol) -> &'static Profile {
    match protocol {
        Protocol::Grpc => &Profile::GRPC,
        Protocol::Json => &Profile::JSON,
        Protocol::JsonH2c => &Profile::JSON_H2C,
        Protocol::Thrift => &Profile::THRIFT,
        Protocol::ThriftCompact => &Profile::THRIFT_COMPACT,
        Protocol::ThriftBuffered => &Profile::THRIFT_BUFFERED,
        Protocol::ThriftBufferedCompact => &Profile::THRIFT_BUFFERED_COMPACT,
        Protocol::TcpEcho => &Profile::TCP_ECHO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_protocol_has_the_profile_of_its_name() {
        for protocol in Protocol::ALL {
            assert_eq!(profile(protocol).name, protocol.name());
        }
        assert_eq!(Profile::ALL.len(), Protocol::ALL.len());
    }
}
