//! Calls of any unary method of a gRPC service.

use std::fs::Permissions;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use rpcbench_engine::{ConnectionOptions, Target};
use rpcbench_record::{CallHeader, Protocol, Secrets};
use rpcbench_schema::{Expectation, JsonError, Method, Reflection, Schema, SchemaError};

use tempfile::NamedTempFile;

use super::data::{Data, Format, lines};
use super::payload::CallPayload;
use super::statuses::Statuses;
use super::{CallContext, CallSpec, Calls};
use crate::config::ConfigError;

/// Permissions of a descriptor set: readable by anyone.
const RIGHTS: u32 = 0o644;

impl CallSpec {
    /// The schema from `--proto` and `--protoset`. `None` without them: the server has to describe itself.
    pub(crate) fn schema_of_files(&self) -> Result<Option<Schema>, ConfigError> {
        if self.proto.is_empty() && self.protoset.is_empty() {
            return Ok(None);
        }
        let schema = Schema::read(&self.proto, &self.import_path, &self.protoset);
        let schema = schema.map_err(|error| refused(&error))?;
        self.keep(&schema)?;
        Ok(Some(schema))
    }

    /// The server's reflection service, called with the headers of calls. `timeout` limits each request.
    pub(crate) fn reflection(
        &self,
        server: &ConnectionOptions,
        headers: &[CallHeader],
        timeout: Duration,
    ) -> Reflection {
        let server = ConnectionOptions { protocol: Protocol::Grpc, ..server.clone() };
        Reflection::new(server, self.reflection_headers(headers), timeout)
    }

    /// The headers of calls; a `--reflect-header` replaces those of the same name.
    fn reflection_headers(&self, headers: &[CallHeader]) -> Vec<CallHeader> {
        let own = &self.reflect_header;
        let is_kept = |header: &&CallHeader| own.iter().all(|it| it.name() != header.name());
        headers.iter().filter(is_kept).chain(own).cloned().collect()
    }

    /// Queries the schema from the server's reflection service.
    pub(crate) fn schema_by_reflection(
        &self,
        server: &ConnectionOptions,
        headers: &[CallHeader],
        timeout: Duration,
    ) -> Result<Schema, ConfigError> {
        let mut reflection = self.reflection(server, headers, timeout);
        let schema = reflection.schema(self.call.as_deref().or(self.describe.as_deref()));
        let schema = schema.map_err(|error| {
            let mut problem = error.to_string();
            Secrets::of_headers(&self.reflection_headers(headers)).conceal(&mut problem);
            ConfigError(problem)
        })?;
        self.keep(&schema)?;
        Ok(schema)
    }

    /// Writes a schema to the file of `--protoset-out`, atomically.
    fn keep(&self, schema: &Schema) -> Result<(), ConfigError> {
        let Some(path) = &self.protoset_out else { return Ok(()) };
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let written =
            NamedTempFile::new_in(folder.unwrap_or(Path::new("."))).and_then(|mut file| {
                file.write_all(&schema.to_protoset())?;
                file.as_file().set_permissions(Permissions::from_mode(RIGHTS))?;
                file.persist(path).map_err(|error| error.error)
            });
        let refused = |error: io::Error| {
            // Omit the name of the temporary file.
            let error = io::Error::from(error.kind());
            ConfigError::value(
                format!("--protoset-out {}", path.display()),
                format!("can't be written: {error}"),
            )
        };
        written.map(drop).map_err(refused)
    }

    /// The calls of the method given by `--call`.
    pub(crate) fn method_calls(
        &self,
        schema: &Schema,
        context: &CallContext<'_>,
    ) -> Result<Calls, ConfigError> {
        let CallContext { protocol, headers, .. } = *context;
        let name = self.call.as_deref().unwrap_or_default();
        let method = schema.method(name).map_err(|error| ConfigError::value("--call", error))?;
        if let Some(problem) = method.not_unary() {
            return Err(ConfigError::value("--call", problem));
        }
        let statuses = Statuses::of(self.ok.as_deref(), protocol);
        let statuses = statuses.map_err(|problem| ConfigError::value("--ok", problem))?;
        let requests = match Data::read(self, io::stdin().lock())? {
            None => vec![Vec::new()],
            Some(data) => encoded(&method, &data)?,
        };
        let deadline_ms = self.deadline.map_or(context.timeout_ms, |it| it.ms());
        let deadline = CallHeader::deadline(protocol, deadline_ms);
        let target = Target {
            headers: headers.iter().cloned().chain(deadline).collect(),
            rejects_success: !statuses.contains(protocol.spec().success),
            accepted: statuses.ranges.clone(),
            scheme: context.scheme,
            ..Target::new(method.path())
        };
        let (name, ok) = (method.name(), statuses.to_string());
        let expectations = self.expectations(|text| Expectation::of_reply(text, &method))?;
        let deadline_ms = Some(deadline_ms);
        let payload = CallPayload {
            method: Some(method),
            deadline_ms,
            ..CallPayload::new(self, (target, requests), expectations, headers)
        };
        Calls::new(payload, &self.messages, (name, ok), headers.to_vec())
    }
}

fn refused(error: &SchemaError) -> ConfigError {
    ConfigError(error.to_string())
}

/// Encodes the requests given by the data.
fn encoded(method: &Method, data: &Data) -> Result<Vec<Vec<u8>>, ConfigError> {
    match data.format {
        Format::LengthPrefixed => {
            let messages = match data.length_prefixed() {
                // A single message without a length. No message begins like the length of one shorter than 16 MiB.
                Err(_) if method.check_request(&data.bytes).is_ok() => vec![data.bytes.clone()],
                messages => messages?,
            };
            for (number, message) in (1..).zip(&messages) {
                let place = || format!("{}: message {number}", data.origin);
                method.check_request(message).map_err(|it| ConfigError::value(place(), it))?;
            }
            Ok(messages)
        }
        Format::Lines => {
            let line = |(number, text)| {
                let place = format!("{}:{number}", data.origin);
                method.request(text).map_err(|error| ConfigError::value(place, error))
            };
            lines(&data.bytes).map(line).collect()
        }
        Format::One => of_json(method, data),
    }
}

/// Encodes one JSON message, or a list of them.
fn of_json(method: &Method, data: &Data) -> Result<Vec<Vec<u8>>, ConfigError> {
    let at = |error: JsonError| {
        let line = error.line.filter(|_| data.origin != "--data").map(|line| format!(":{line}"));
        ConfigError::value(format!("{}{}", data.origin, line.unwrap_or_default()), error)
    };
    let list = serde_json::from_slice::<Vec<&serde_json::value::RawValue>>(&data.bytes);
    let Ok(list) =
        list.map_err(drop).and_then(|list| if list.is_empty() { Err(()) } else { Ok(list) })
    else {
        return Ok(vec![method.request(&data.bytes).map_err(at)?]);
    };
    let each = (1..).zip(list).map(|(number, text): (usize, _)| {
        let place = format!("{}: request {number} of the list", data.origin);
        method.request(text.get().as_bytes()).map_err(|error| ConfigError::value(place, error))
    });
    each.collect()
}
