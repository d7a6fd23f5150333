//! Schemas from a server by reflection (`grpc.reflection.v1`, then `v1alpha`), with one call per question.

mod files;
pub(crate) mod wire;

use std::time::Duration;

use prost::Message as _;
use rpcbench_engine::{CallError, CallPosition, Client, ConnectionOptions, Target};
use rpcbench_record::CallHeader;

use crate::{Schema, SchemaError};
use files::Files;
use wire::{Answer, Question, Request, Response};

/// Names of the service, newest version first.
const SERVICES: [&str; 2] =
    ["grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection"];
/// gRPC's code for methods that a server does not have.
const UNIMPLEMENTED: u32 = 12;
/// Maximum questions per server: more than any real service has files.
const MAX_QUESTIONS: usize = 5000;
/// Maximum bytes of all answers.
const MAX_BYTES: usize = 64 << 20;

/// Makes a call and returns its reply.
type Caller = Box<dyn FnMut(&Target, &[u8]) -> Result<Vec<u8>, CallError>>;

/// A server that is asked for its schema.
pub struct Reflection {
    caller: Caller,
    server: String,
    headers: Vec<CallHeader>,
    /// Index of the version in [`SERVICES`]; the first one that may answer.
    version: usize,
    asked: usize,
    bytes: usize,
}

impl Reflection {
    /// Reflection on a server, with header fields; `timeout` bounds each question.
    pub fn new(server: ConnectionOptions, headers: Vec<CallHeader>, timeout: Duration) -> Self {
        let name = server.authority.clone();
        let mut client = Client::new(server, timeout);
        let caller = move |target: &_, request: &_| client.call(target, request, CallPosition::Any);
        Self::over(Box::new(caller), name, headers)
    }

    fn over(caller: Caller, server: String, headers: Vec<CallHeader>) -> Self {
        Self { caller, server, headers, version: 0, asked: 0, bytes: 0 }
    }

    /// Reflection on anything that answers calls.
    #[cfg(any(test, feature = "fuzzing"))]
    pub(crate) fn of_answers(caller: Caller) -> Self {
        Self::over(caller, "server".to_owned(), Vec::new())
    }

    /// Full names of the server's services, without reflection itself.
    ///
    /// # Errors
    /// If the server does not answer, or offers no reflection.
    pub fn services(&mut self) -> Result<Vec<String>, SchemaError> {
        match self.ask(Question::ListServices(String::new()))? {
            Answer::Services(services) => {
                let names = services.services.into_iter().map(|service| service.name);
                let mut names: Vec<String> =
                    names.filter(|name| !SERVICES.contains(&name.as_str())).collect();
                names.sort();
                names.dedup();
                Ok(names)
            }
            Answer::Error(error) => Err(SchemaError::Reflection(error.to_string())),
            Answer::Files(_) => Err(odd()),
        }
    }

    /// The schema of the services that may have the method `call`, or of all services, with everything that they use. If there
    /// are several services, those that can't be described are left out.
    ///
    /// # Errors
    /// If the server does not answer, or describes none of them.
    pub fn schema(&mut self, call: Option<&str>) -> Result<Schema, SchemaError> {
        let services = match (self.services(), call.and_then(service_of)) {
            (Ok(all), None) => all,
            (Ok(all), Some(service)) => {
                let end = format!(".{service}");
                let is_selected = |name: &&String| **name == service || name.ends_with(&end);
                let meant: Vec<String> = all.iter().filter(is_selected).cloned().collect();
                if meant.is_empty() { all } else { meant }
            }
            // Some servers describe services that they don't list.
            (Err(SchemaError::Reflection(_)), Some(service)) => vec![service],
            (Err(error), _) => return Err(error),
        };
        let mut known = Files::default();
        let mut problem = None;
        for service in &services {
            match self.complete(service) {
                Ok(files) => known.merge(files),
                Err(error) => problem = problem.or(Some(error)),
            }
        }
        match problem {
            Some(problem) if known.is_empty() => Err(problem),
            _ => known.into_schema(),
        }
    }

    /// The files of a service and their imports.
    fn complete(&mut self, service: &str) -> Result<Files, SchemaError> {
        let mut files = Files::default();
        let found = self.files_of_symbol(service)?;
        let describe = |error| SchemaError::Reflection(format!("{service}: {error}"));
        files.add(found.map_err(describe)?)?;
        files.complete(self)?;
        Ok(files)
    }

    /// The encoded files that define a symbol, or the server's reason for sending none.
    fn files_of_symbol(
        &mut self,
        symbol: &str,
    ) -> Result<Result<Vec<Vec<u8>>, String>, SchemaError> {
        self.files(Question::FileContainingSymbol(symbol.to_owned()))
    }

    /// The encoded file with this name and maybe others, or the server's reason for sending none.
    fn files_of_name(&mut self, name: &str) -> Result<Result<Vec<Vec<u8>>, String>, SchemaError> {
        self.files(Question::FileByFilename(name.to_owned()))
    }

    fn files(&mut self, question: Question) -> Result<Result<Vec<Vec<u8>>, String>, SchemaError> {
        match self.ask(question)? {
            Answer::Files(files) => Ok(Ok(files.files)),
            Answer::Error(error) => Ok(Err(error.to_string())),
            Answer::Services(_) => Err(odd()),
        }
    }

    fn ask(&mut self, question: Question) -> Result<Answer, SchemaError> {
        self.asked += 1;
        if self.asked > MAX_QUESTIONS {
            return Err(SchemaError::Reflection(format!(
                "the server's schema has no end after {MAX_QUESTIONS} files; give --proto or --protoset"
            )));
        }
        let request = Request { host: String::new(), question: Some(question) }.encode_to_vec();
        let reply = self.call(&request)?;
        self.bytes += reply.len();
        if self.bytes > MAX_BYTES {
            return Err(SchemaError::Reflection(
                "the server's schema is larger than 64 MiB; give --proto or --protoset".to_owned(),
            ));
        }
        Response::decode(&*reply).ok().and_then(|response| response.answer).ok_or_else(odd)
    }

    /// Calls the newest version that the server supports.
    fn call(&mut self, request: &[u8]) -> Result<Vec<u8>, SchemaError> {
        loop {
            let name = format!("/{}/ServerReflectionInfo", SERVICES[self.version]);
            let target = Target { headers: self.headers.clone(), ..Target::new(name) };
            match (self.caller)(&target, request) {
                Ok(reply) => return Ok(reply),
                Err(CallError::Status { code: UNIMPLEMENTED, .. })
                    if self.version + 1 < SERVICES.len() =>
                {
                    self.version += 1;
                }
                Err(error @ CallError::Status { code: UNIMPLEMENTED, .. }) => {
                    return Err(SchemaError::NoReflection { server: self.server.clone(), error });
                }
                Err(error) => {
                    return Err(SchemaError::Reflection(format!("{}: {error}", self.server)));
                }
            }
        }
    }
}

/// The service in `package.Service/Method` or `package.Service.Method`.
fn service_of(call: &str) -> Option<String> {
    let call = call.trim_start_matches(['/', '.']);
    call.rsplit_once(['/', '.']).map(|(service, _)| service.to_owned())
}

fn odd() -> SchemaError {
    SchemaError::Reflection(
        "the server's answer is not one to the question; give --proto or --protoset".to_owned(),
    )
}
