//! Reflection over a server of HTTP/2 that answers as a test says.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use prost::Message as _;
use prost_types::{FileDescriptorProto, FileDescriptorSet};
use rpcbench_engine::ConnectionOptions;
use rpcbench_record::Protocol;
use rpcbench_schema::{Reflection, Schema};

use crate::common;

/// What is asked: a number of the question's field, and its text.
type Question = (u8, String);
/// The answer to a question, encoded. `None`: the method does not exist.
type Answers = dyn Fn(&str, Question) -> Option<Vec<u8>> + Send + Sync;

const BY_NAME: u8 = 3;
const BY_SYMBOL: u8 = 4;
const LIST: u8 = 7;

/// A field of bytes.
fn field(number: u8, content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![number << 3 | 2];
    prost::encoding::encode_varint(content.len() as u64, &mut bytes);
    bytes.extend_from_slice(content);
    bytes
}

fn files(files: &[&FileDescriptorProto]) -> Vec<u8> {
    let all: Vec<u8> = files.iter().flat_map(|file| field(1, &file.encode_to_vec())).collect();
    field(4, &all)
}

fn services(names: &[&str]) -> Vec<u8> {
    field(
        6,
        &names.iter().flat_map(|name| field(1, &field(1, name.as_bytes()))).collect::<Vec<_>>(),
    )
}

fn not_found() -> Vec<u8> {
    field(7, &[&[0x08, 5][..], &field(2, b"no such file")].concat())
}

async fn answer(socket: tokio::net::TcpStream, answers: Arc<Answers>) -> Result<(), h2::Error> {
    let mut connection = h2::server::handshake(socket).await?;
    while let Some(request) = connection.accept().await {
        let (request, mut respond) = request?;
        let answers = Arc::clone(&answers);
        tokio::spawn(async move {
            let path = request.uri().path().to_owned();
            let mut body = request.into_body();
            let mut bytes = Vec::new();
            while let Some(Ok(data)) = body.data().await {
                let _ = body.flow_control().release_capacity(data.len());
                bytes.extend_from_slice(&data);
            }
            let text = String::from_utf8_lossy(&bytes[7..]).into_owned();
            let reply = http::Response::builder().header("content-type", "application/grpc");
            let Some(message) = answers(&path, (bytes[5] >> 3, text)) else {
                let reply = reply.header("grpc-status", "12").body(()).unwrap();
                return respond.send_response(reply, true).map(drop);
            };
            let mut stream = respond.send_response(reply.body(()).unwrap(), false)?;
            let mut data = vec![0];
            data.extend_from_slice(&(message.len() as u32).to_be_bytes());
            data.extend_from_slice(&message);
            stream.send_data(Bytes::from(data), false)?;
            let mut trailers = http::HeaderMap::new();
            trailers.insert("grpc-status", "0".parse().unwrap());
            stream.send_trailers(trailers)
        });
    }
    Ok(())
}

fn serve(
    answers: impl Fn(&str, Question) -> Option<Vec<u8>> + Send + Sync + 'static,
) -> Reflection {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address: SocketAddr = listener.local_addr().unwrap();
    listener.set_nonblocking(true).unwrap();
    let answers: Arc<Answers> = Arc::new(answers);
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(answer(socket, Arc::clone(&answers)));
            }
        });
    });
    let server = ConnectionOptions::new(Protocol::Grpc, address);
    Reflection::new(server, Vec::new(), Duration::from_secs(60))
}

/// The shop's files by name, with those that it imports.
fn shop() -> Vec<FileDescriptorProto> {
    FileDescriptorSet::decode(&*common::schema().to_protoset()).unwrap().file
}

fn named<'a>(all: &'a [FileDescriptorProto], end: &str) -> &'a FileDescriptorProto {
    all.iter().find(|file| file.name().ends_with(end)).unwrap()
}

/// A server that has these files under their names, and the first one's service.
fn honest(all: Vec<FileDescriptorProto>, version: &'static str) -> Reflection {
    serve(move |path, (kind, text)| {
        if !path.contains(version) {
            return None;
        }
        Some(match kind {
            LIST => services(&["shop.v1.Orders", "grpc.reflection.v1.ServerReflection"]),
            BY_SYMBOL if text.starts_with("shop.v1.Money") => files(&[named(&all, "money.proto")]),
            BY_SYMBOL => files(&[named(&all, "orders.proto")]),
            BY_NAME => match all.iter().find(|file| file.name() == text) {
                Some(file) => files(&[file]),
                None => not_found(),
            },
            _ => not_found(),
        })
    })
}

fn methods(schema: &Schema) -> usize {
    schema.methods().len()
}

#[test]
fn either_version_describes_the_services() {
    for version in [".v1.", ".v1alpha."] {
        let mut server = honest(shop(), version);
        assert_eq!(server.services().unwrap(), ["shop.v1.Orders"]);
        assert_eq!(methods(&server.schema(None).unwrap()), 4, "{version}");
        assert_eq!(methods(&server.schema(Some("Orders/Get")).unwrap()), 4);
    }
}

#[test]
fn well_known_files_need_not_be_on_the_server() {
    let own = shop().into_iter().filter(|file| !file.name().starts_with("google/"));
    let schema = honest(own.collect(), ".v1.").schema(None).unwrap();
    assert!(schema.method("Orders/Put").unwrap().request(br#"{"note": "a"}"#).is_ok());
}

#[test]
fn file_known_by_another_name_is_found_by_its_symbols() {
    let mut all = shop();
    let money = all.iter_mut().find(|file| file.name().ends_with("money.proto")).unwrap();
    money.name = Some("elsewhere/money.proto".to_owned());
    let schema = honest(all, ".v1.").schema(None).unwrap();
    let put = schema.method("Orders/Put").unwrap();
    assert!(put.request(br#"{"prices": [{"amount": 2}]}"#).is_ok());
}

#[test]
fn server_without_reflection_has_its_own_error() {
    let error = serve(|_, _| None).schema(None).unwrap_err().to_string();
    assert!(error.contains("offers no reflection") && error.contains("--proto FILE"), "{error}");
}

#[test]
fn imports_without_end_are_given_up() {
    let mut server = serve(|_, (kind, text)| {
        let number: u32 = text.trim_end_matches(".proto").parse().unwrap_or_default();
        let file = FileDescriptorProto {
            name: Some(if kind == BY_NAME { text } else { "0.proto".to_owned() }),
            dependency: vec![format!("{}.proto", number + 1)],
            ..FileDescriptorProto::default()
        };
        Some(if kind == LIST { services(&["a.B"]) } else { files(&[&file]) })
    });
    let error = server.schema(None).unwrap_err().to_string();
    insta::assert_snapshot!(error, @"reflection: the server's schema has no end after 5000 files; give --proto or --protoset");
}

#[test]
fn odd_answers_are_refused() {
    let mut half = serve(|_, (kind, _)| {
        Some(if kind == LIST { services(&["a.B"]) } else { field(4, &field(1, b"\x0a\x7fhalf")) })
    });
    let error = half.schema(None).unwrap_err().to_string();
    assert!(error.starts_with("invalid descriptor: "), "{error}");
    let mut other = serve(|_, _| Some(services(&["a.B"])));
    let error = other.schema(None).unwrap_err().to_string();
    insta::assert_snapshot!(error, @"reflection: the server's answer is not one to the question; give --proto or --protoset");
    let mut missing =
        serve(|_, (kind, _)| Some(if kind == LIST { services(&["a.B"]) } else { not_found() }));
    insta::assert_snapshot!(missing.schema(None).unwrap_err(), @"reflection: a.B: error 5: no such file");
    let mut nothing = serve(|_, _| Some(Vec::new()));
    assert!(nothing.services().is_err());
}

/// A server whose file of `a.B` has this name, these imports, and this much of an unknown field.
fn of_file(name: &'static str, imports: &'static [&'static str], unknown: usize) -> Reflection {
    let junk = field(15, &vec![b'x'; unknown]);
    serve(move |_, (kind, text)| {
        let file = FileDescriptorProto {
            name: Some(if kind == BY_NAME { text } else { name.to_owned() }),
            dependency: imports.iter().map(|&it| it.to_owned()).collect(),
            ..FileDescriptorProto::default()
        };
        let file = [file.encode_to_vec(), junk.clone()].concat();
        Some(if kind == LIST { services(&["a.B"]) } else { field(4, &field(1, &file)) })
    })
}

#[test]
fn imports_in_a_circle_come_to_an_end() {
    let schema = of_file("a.proto", &["b.proto", "a.proto"], 0).schema(None).unwrap();
    assert!(schema.services().is_empty());
}

#[test]
fn schema_without_the_listed_service_has_no_such_method() {
    let schema = of_file("a.proto", &[], 0).schema(Some("a.B/Call")).unwrap();
    let error = schema.method("a.B/Call").unwrap_err().to_string();
    insta::assert_snapshot!(error, @"unknown method 'a.B/Call': the schema has no services");
}

#[test]
fn hundreds_of_mebibytes_are_given_up_in_one_answer_or_in_many() {
    let error = of_file("a.proto", &[], 65 << 20).schema(None).unwrap_err().to_string();
    assert!(error.ends_with("a reply above 64 MiB (--max-message)"), "{error}");
    let imports = &["1", "2", "3", "4", "5", "6", "7", "8", "9"];
    let error = of_file("a.proto", imports, 8 << 20).schema(None).unwrap_err().to_string();
    insta::assert_snapshot!(error, @"reflection: the server's schema is larger than 64 MiB; give --proto or --protoset");
}
