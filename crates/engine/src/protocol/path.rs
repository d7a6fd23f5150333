//! The path by which HTTP names a method of the contract, in gRPC and in JSON alike.

use rpcbench_contract::Method;

/// The path of a method.
pub(crate) fn path(method: Method) -> &'static str {
    match method {
        Method::Text => "/rpcbench.v1.Echo/Text",
        Method::Record => "/rpcbench.v1.Echo/Record",
        Method::Dto => "/rpcbench.v1.Echo/Dto",
        Method::Tree => "/rpcbench.v1.Echo/Tree",
        Method::Missing => "/rpcbench.v1.Echo/Missing",
        Method::MissingService => "/rpcbench.v1.Missing/Text",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_made_of_service_and_method() {
        let (real, missing) = (
            [Method::Text, Method::Record, Method::Dto, Method::Tree],
            [Method::Missing, Method::MissingService],
        );
        for method in real.into_iter().chain(missing) {
            assert_eq!(path(method), format!("/{}/{}", method.service(), method.name()));
        }
    }
}
