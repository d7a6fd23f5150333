//! Request heads as data, which HTTP/1.1 and HTTP/2 each encode.

use crate::payload::Payload;
use crate::target::Target;

const USER_AGENT: (&str, &str) = ("User-Agent", concat!("rpcbench/", env!("CARGO_PKG_VERSION")));

/// The distinct targets of a payload, and the index of each request's target.
pub(crate) fn distinct_targets(payload: &dyn Payload) -> (Vec<&Target>, Vec<u32>) {
    let mut targets: Vec<&Target> = Vec::new();
    let number = |index| {
        let target = payload.target(index);
        let known = targets.iter().rposition(|it| *it == target);
        known.unwrap_or_else(|| {
            targets.push(target);
            targets.len() - 1
        }) as u32
    };
    let numbers = (0..payload.len()).map(number).collect();
    (targets, numbers)
}

/// The head of all requests to one target, without Content-Length, which differs between requests.
#[derive(Debug)]
pub(crate) struct Head<'a> {
    pub method: &'a str,
    pub scheme: &'static str,
    pub path: &'a str,
    pub authority: &'a str,
    /// Names as HTTP/1.1 writes them.
    pub fields: Vec<(&'a str, &'a str)>,
}

impl<'a> Head<'a> {
    /// `own` are the protocol's fields; `coding` those of compressed bodies: the request's coding, and the codings accepted in
    /// replies. The target's headers replace fields of the same name.
    pub fn new(
        target: &'a Target,
        authority: &'a str,
        own: &[(&'a str, &'a str)],
        coding: [&'a str; 2],
    ) -> Self {
        let coding = coding.map(|name| (name, "gzip"));
        let coding = match (target.gzip, target.has_body) {
            (false, _) => &[],
            (true, true) => &coding[..],
            (true, false) => &coding[1..],
        };
        let headers = target.headers.iter().map(|header| (header.name(), header.value()));
        let is_set =
            |field: &str| headers.clone().any(|(name, _)| name.eq_ignore_ascii_case(field));
        let defaults = own.iter().chain(coding).copied().chain([USER_AGENT]);
        let fields = defaults.filter(|(name, _)| !is_set(name)).chain(headers.clone()).collect();
        let scheme = target.scheme.name();
        Self { method: &target.http_method, scheme, path: &target.name, authority, fields }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_follow_and_replace_the_protocols_own() {
        let headers = ["x-trace: 7", "accept: text/plain"].map(|it| it.parse().unwrap()).to_vec();
        let target = Target { headers, ..Target::new("/p") };
        let head = Head::new(&target, "host", &[("Accept", "application/json")], ["a", "b"]);
        let expected = [USER_AGENT, ("x-trace", "7"), ("accept", "text/plain")];
        assert_eq!(head.fields, expected);
    }
    #[test]
    fn coding_is_named_where_there_is_a_body_and_replies_may_have_it() {
        let fields = |has_body| {
            let target = Target { gzip: true, has_body, ..Target::new("/p") };
            let head = Head::new(&target, "host", &[], ["coding", "accepted"]);
            head.fields.iter().map(|(name, value)| format!("{name}: {value}")).collect::<Vec<_>>()
        };
        assert_eq!(fields(true)[..2], ["coding: gzip", "accepted: gzip"]);
        assert_eq!(fields(false)[0], "accepted: gzip");
    }
}
