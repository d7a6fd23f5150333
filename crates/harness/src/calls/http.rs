//! Requests to a URL.

use std::io;

use rpcbench_engine::Target;
use rpcbench_record::CallHeader;
use rpcbench_schema::Expectation;

use super::data::{Data, random};
use super::payload::CallPayload;
use super::statuses::Statuses;
use super::{CallContext, CallSpec, Calls, HttpMethod, Url, form};
use crate::config::ConfigError;
use crate::interrupt::Interrupt;

/// Bodies, and the content type derived from them.
#[derive(Debug, Default)]
struct Bodies {
    /// Empty without data.
    bodies: Vec<Vec<u8>>,
    content_type: Option<String>,
}

impl CallSpec {
    /// The requests to `url`.
    pub(crate) fn http_calls(
        &self,
        url: &Url,
        context: &CallContext<'_>,
    ) -> Result<Calls, ConfigError> {
        let CallContext { protocol, headers, seed, .. } = *context;
        let Bodies { bodies, content_type } = self.read_bodies(seed)?;
        let has_data = !bodies.is_empty();
        let method = self.method.clone().unwrap_or_else(|| HttpMethod::for_data(has_data));
        let statuses = Statuses::of(self.ok.as_deref(), protocol);
        let statuses = statuses.map_err(|problem| ConfigError::value("--ok", problem))?;
        let headers = Self::all_headers(headers, content_type)?;
        let target = Target {
            http_method: method.to_string(),
            headers: headers.clone(),
            has_body: has_data || method.expects_body(),
            rejects_success: !statuses.contains(protocol.spec().success),
            accepted: statuses.ranges.clone(),
            scheme: context.scheme,
            ..Target::new(url.path.clone())
        };
        let requests = if has_data { bodies } else { vec![Vec::new()] };
        let named = format!("{method} {}", url.shown_path());
        let expectations = self.expectations(Expectation::of_json)?;
        let payload = CallPayload::new(self, (target, requests), expectations, &headers);
        Calls::new(payload, &self.messages, (named, statuses.to_string()), headers)
    }

    fn read_bodies(&self, seed: u64) -> Result<Bodies, ConfigError> {
        if let Some(size) = self.data_size {
            return Ok(Bodies { bodies: random(size, seed), content_type: None });
        }
        if !self.form.is_empty() {
            let (body, content_type) = form::body(&self.form)?;
            return Ok(Bodies { bodies: vec![body], content_type: Some(content_type) });
        }
        let Some(data) = Data::read(self, io::stdin().lock())? else {
            return Ok(Bodies::default());
        };
        let bodies = data.requests()?;
        let json = bodies.iter().all(|body| is_json(body));
        Ok(Bodies { bodies, content_type: json.then(|| "application/json".to_owned()) })
    }

    /// The user's headers, plus the content type unless the user sets it.
    fn all_headers(
        given: &[CallHeader],
        content_type: Option<String>,
    ) -> Result<Vec<CallHeader>, ConfigError> {
        let content_type = content_type.map(|it| format!("content-type: {it}").parse());
        let content_type = content_type.transpose();
        let content_type = content_type.map_err(|error| ConfigError::value("--form", error))?;
        let own = content_type
            .into_iter()
            .filter(|header: &CallHeader| find(given, header.name()).is_none());
        Ok(own.chain(given.iter().cloned()).collect())
    }

    /// The header of `--user`, or of `--token-command`, whose command runs now. `given`: the user's own headers.
    ///
    /// # Errors
    /// If there is more than one source of authorization, or the command fails.
    pub(crate) fn authorization(
        &self,
        given: &[CallHeader],
        interrupt: &Interrupt,
    ) -> Result<Option<CallHeader>, ConfigError> {
        let own = [
            self.user.as_ref().map(|_| "--user"),
            self.token.token_command.as_ref().map(|_| "--token-command"),
            find(given, "authorization").map(|_| "--header authorization"),
        ];
        let mut own = own.into_iter().flatten().map(str::to_owned);
        if let (Some(first), Some(second)) = (own.next(), own.next()) {
            let remedy = "a call has one authorization; leave one of them out";
            return Err(ConfigError::contradiction(first, second, remedy));
        }
        let Some(user) = &self.user else { return self.token.header(interrupt) };
        if !user.contains(':') {
            let problem = "the password is missing; write USER:PASSWORD";
            return Err(ConfigError::value("--user", problem));
        }
        let header = CallHeader::basic_authorization(user);
        header.map(Some).map_err(|error| ConfigError::value("--user", error))
    }
}

fn find<'a>(headers: &'a [CallHeader], name: &str) -> Option<&'a CallHeader> {
    headers.iter().find(|header| header.name() == name)
}

fn is_json(body: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(body).is_ok()
}

#[cfg(test)]
mod tests {
    use rpcbench_record::Protocol;

    use rpcbench_engine::Scheme;

    use super::*;
    use crate::calls::LoadAddress;

    fn calls(spec: &CallSpec, headers: &[&str]) -> Result<Calls, ConfigError> {
        let url: Url = "http://h/a?b".parse().unwrap();
        let headers: Vec<CallHeader> = headers.iter().map(|it| it.parse().unwrap()).collect();
        let address = &LoadAddress::Url(url.clone());
        let context = CallContext {
            address,
            protocol: Protocol::Http,
            scheme: Scheme::Http,
            headers: &headers,
            seed: 1,
            timeout_ms: 10_000,
        };
        spec.http_calls(&url, &context)
    }

    /// Method, path, whether there is a body, and the content type.
    fn shown(spec: CallSpec, headers: &[&str]) -> String {
        let Calls { payload, described, headers } = calls(&spec, headers).unwrap();
        let kind = find(&headers, "content-type").map_or("none", CallHeader::value);
        format!("{} body {} type {kind}", described.target, payload.target.has_body)
    }

    #[test]
    fn method_and_content_type_follow_from_the_data() {
        let data = |text: &str| CallSpec { data: Some(text.to_owned()), ..CallSpec::default() };
        let method = |name: &str| Some(name.parse().unwrap());
        assert_eq!(shown(CallSpec::default(), &[]), "GET /a?b body false type none");
        assert_eq!(shown(data("{\"a\":1}"), &[]), "POST /a?b body true type application/json");
        assert_eq!(shown(data("plain"), &[]), "POST /a?b body true type none");
        assert_eq!(
            shown(data("{}"), &["Content-Type: text/plain"]),
            "POST /a?b body true type text/plain"
        );
        let put = CallSpec { method: method("PUT"), ..CallSpec::default() };
        assert_eq!(shown(put, &[]), "PUT /a?b body true type none");
        let get = CallSpec { method: method("GET"), ..data("x") };
        assert_eq!(shown(get, &[]), "GET /a?b body true type none");
    }

    #[test]
    fn user_becomes_basic_authorization() {
        let spec = CallSpec { user: Some("ann:secret".to_owned()), ..CallSpec::default() };
        let header = spec.authorization(&[], &Interrupt::default()).unwrap().unwrap();
        assert_eq!(header.value(), "Basic YW5uOnNlY3JldA==");
        assert!(!format!("{header:?}").contains("YW5u"));
        let own = ["authorization: x".parse().unwrap()];
        let refusal = spec.authorization(&own, &Interrupt::default()).unwrap_err().to_string();
        insta::assert_snapshot!(refusal, @"--user contradicts --header authorization: a call has one authorization; leave one of them out");
    }

    #[test]
    fn only_listed_statuses_count_as_success() {
        let target = |ok: Option<&str>| {
            let spec = CallSpec { ok: ok.map(str::to_owned), ..CallSpec::default() };
            calls(&spec, &[]).unwrap().payload.target.clone()
        };
        let default = target(None);
        assert!(default.accepts(204) && !default.accepts(302) && !default.rejects_success);
        let missing = target(Some("404"));
        assert!(missing.accepts(404) && missing.rejects_success);
    }
}
