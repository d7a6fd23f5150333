//! Bodies of `multipart/form-data` (RFC 7578).

use std::path::Path;

use rpcbench_record::regular;

use super::data::MAX_BYTES;
use crate::config::{ConfigError, unreadable};

/// Builds the body and the content type of a form with fields `NAME=VALUE` or `NAME=@FILE`.
pub(super) fn body(fields: &[String]) -> Result<(Vec<u8>, String), ConfigError> {
    let parts: Vec<Part> = fields.iter().map(|field| part(field)).collect::<Result<_, _>>()?;
    let boundary = boundary(&parts);
    let mut body = Vec::new();
    for Part { head, content } in &parts {
        let head = format!("--{boundary}\r\nContent-Disposition: form-data; {head}\r\n\r\n");
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(content);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    Ok((body, format!("multipart/form-data; boundary={boundary}")))
}

struct Part {
    /// The field's name; for a file also its name and type.
    head: String,
    content: Vec<u8>,
}

fn part(field: &str) -> Result<Part, ConfigError> {
    let Some((name, value)) = field.split_once('=').filter(|(name, _)| !name.is_empty()) else {
        let problem = "write NAME=VALUE or NAME=@FILE, such as user=ann or photo=@a.jpg";
        return Err(ConfigError::value(format!("--form {field}"), problem));
    };
    let name = quoted(name);
    let Some(path) = value.strip_prefix('@').map(Path::new) else {
        return Ok(Part { head: format!("name={name}"), content: value.as_bytes().to_vec() });
    };
    let content = regular::read_named(path, MAX_BYTES).map_err(|error| unreadable(path, error))?;
    let file = quoted(&path.file_name().unwrap_or_default().to_string_lossy());
    let kind = "Content-Type: application/octet-stream";
    Ok(Part { head: format!("name={name}; filename={file}\r\n{kind}"), content })
}

/// A boundary that does not occur in the parts.
fn boundary(parts: &[Part]) -> String {
    let mut hasher = blake3::Hasher::new();
    parts.iter().for_each(|part| {
        hasher.update(&part.content);
    });
    format!("rpcbench-{}", &hasher.finalize().to_hex()[..32])
}

/// Quotes a name like browsers do, with quotes and line ends escaped. WHATWG HTML, section 4.10.21.8.
fn quoted(name: &str) -> String {
    let escaped = name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A");
    format!("\"{escaped}\"")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    #[test]
    fn form_has_a_part_for_each_field() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        fs::write(&path, "content").unwrap();
        let fields = ["user=\"ann\"=x".to_owned(), format!("file=@{}", path.display())];
        let (body, kind) = body(&fields).unwrap();
        let boundary = kind.strip_prefix("multipart/form-data; boundary=").unwrap();
        let text = String::from_utf8(body).unwrap().replace(boundary, "B").replace("\r\n", "\n");
        insta::assert_snapshot!(text, @r#"
        --B
        Content-Disposition: form-data; name="user"

        "ann"=x
        --B
        Content-Disposition: form-data; name="file"; filename="a.txt"
        Content-Type: application/octet-stream

        content
        --B--
        "#);
    }

    #[test]
    fn pipe_without_a_writer_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        mknodat(CWD, &path, FileType::Fifo, Mode::RWXU, 0).unwrap();
        let refusal = body(&[format!("file=@{}", path.display())]).unwrap_err().to_string();
        assert!(
            refusal.ends_with("nothing writes to this pipe; start what does first"),
            "{refusal}"
        );
    }

    #[test]
    fn field_without_name_is_refused() {
        let refusal = body(&["=x".to_owned()]).unwrap_err().to_string();
        insta::assert_snapshot!(refusal, @"--form =x: write NAME=VALUE or NAME=@FILE, such as user=ann or photo=@a.jpg");
    }
}
