//! Methods and services that do not exist.

use super::probe::Probe;
use super::{CallError, Case, case};
use crate::method::Method;
use crate::profile::Need;
use crate::shape::Shape;

#[rustfmt::skip]
pub(super) const CASES: &[Case] = &[
    case("method/unknown", &[Need::UnknownMethod], |probe| refused(probe, Method::Missing, probe.profile().unknown_method),
        "a method that does not exist (`Missing`) gets the protocol's status for it"),
    case("method/unknown-service", &[Need::UnknownService], |probe| refused(probe, Method::MissingService, probe.profile().unknown_service),
        "a service that does not exist gets the protocol's status for it"),
];

fn refused(probe: &mut Probe<'_>, method: Method, statuses: &[u32]) -> Result<(), String> {
    let request = probe.codec().request(&probe.value(Shape::Text(100), 0));
    let called = format!("{}/{}", method.service(), method.name());
    let codes: Vec<_> = statuses.iter().map(u32::to_string).collect();
    let expected = format!("status {}", codes.join(" or "));
    match probe.call(method, &request) {
        Err(CallError::Status { code, .. }) if statuses.contains(&code) => Ok(()),
        Err(error) => Err(format!("{called}: {error}; expected {expected}")),
        Ok(reply) => Err(format!(
            "{called}: answered with OK (reply: {} B); expected {expected}",
            reply.len()
        )),
    }
}
