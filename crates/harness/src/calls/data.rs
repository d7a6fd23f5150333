//! Data of calls, given by `--data` and `--data-file`.

use std::io::Read;
use std::path::Path;

use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;
use rpcbench_record::regular;

use super::CallSpec;
use crate::config::ConfigError;

/// Maximum size of all data, bytes.
pub(super) const MAX_BYTES: u64 = 256 << 20;
/// Random bodies: maximum number, and maximum total size in bytes.
const RANDOM_BODIES: u64 = 16;
const RANDOM_BYTES: u64 = 16 << 20;

/// Data and its origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Data {
    pub bytes: Vec<u8>,
    /// `--data` or a file, for errors.
    pub origin: String,
    /// How to interpret the bytes.
    pub format: Format,
}

/// The format of a data file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// One request.
    One,
    /// A JSON request in each line.
    Lines,
    /// Encoded messages, each after its length in four bytes, big-endian.
    LengthPrefixed,
}

impl Data {
    /// Reads the data of `--data` or `--data-file`, from `stdin` for `-`. `None` without either.
    pub fn read(spec: &CallSpec, stdin: impl Read) -> Result<Option<Self>, ConfigError> {
        let (option, file) = match (&spec.data, &spec.data_file) {
            (None, None) => return Ok(None),
            (Some(_), Some(file)) => {
                let remedy = "calls have one source of data; leave one of them out";
                let file = format!("--data-file {}", file.display());
                return Err(ConfigError::contradiction("--data".to_owned(), file, remedy));
            }
            (Some(text), None) => match text.strip_prefix('@') {
                Some(file) => ("--data", Path::new(file)),
                None => {
                    let (bytes, origin) = (text.clone().into_bytes(), "--data".to_owned());
                    return Ok(Some(Self { bytes, origin, format: Format::One }));
                }
            },
            (None, Some(file)) => ("--data-file", file.as_path()),
        };
        let name = file.to_str().map(|name| name.trim_start_matches('@'));
        let (bytes, origin) = match name {
            Some("-") => (regular::read_to_end(stdin, MAX_BYTES), "standard input".to_owned()),
            _ => (regular::read_named(file, MAX_BYTES), file.display().to_string()),
        };
        let refused = |problem: String| ConfigError::value(format!("{option} {origin}"), problem);
        let bytes = bytes.map_err(|error| refused(format!("can't be read: {error}")))?;
        if bytes.is_empty() {
            return Err(refused(
                "is empty; leave the option out for calls without data".to_owned(),
            ));
        }
        let format = match file.extension().and_then(|ending| ending.to_str()) {
            Some("jsonl" | "ndjson") if option == "--data-file" => Format::Lines,
            Some("bin") if option == "--data-file" => Format::LengthPrefixed,
            _ => Format::One,
        };
        Ok(Some(Self { bytes, origin, format }))
    }

    /// The requests, if the data is sent unchanged.
    pub fn requests(self) -> Result<Vec<Vec<u8>>, ConfigError> {
        match self.format {
            Format::One => Ok(vec![self.bytes]),
            Format::Lines => Ok(lines(&self.bytes).map(|(_, line)| line.to_vec()).collect()),
            Format::LengthPrefixed => self.length_prefixed(),
        }
    }

    /// The messages of a file of length-prefixed messages.
    pub fn length_prefixed(&self) -> Result<Vec<Vec<u8>>, ConfigError> {
        let (mut rest, mut messages) = (&self.bytes[..], Vec::new());
        while !rest.is_empty() {
            let message = rest.split_first_chunk::<4>().and_then(|(length, rest)| {
                rest.split_at_checked(u32::from_be_bytes(*length) as usize)
            });
            let Some((message, after)) = message else {
                let at = self.bytes.len() - rest.len();
                let problem = format!(
                    "no whole message at byte {at}; expected messages, each after its length in four bytes, big-endian"
                );
                return Err(ConfigError::value(&self.origin, problem));
            };
            messages.push(message.to_vec());
            rest = after;
        }
        Ok(messages)
    }
}

/// Non-blank lines, each with its number, counted from 1.
pub(super) fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let numbered = (1..).zip(bytes.split(|byte| *byte == b'\n'));
    numbered.map(|(number, line)| (number, line.trim_ascii())).filter(|(_, line)| !line.is_empty())
}

/// Several different bodies of random bytes.
pub(super) fn random(size: u64, seed: u64) -> Vec<Vec<u8>> {
    let bodies = (RANDOM_BYTES / size.max(1)).clamp(1, RANDOM_BODIES);
    let mut random = Pcg64::seed_from_u64(seed);
    let mut body = || {
        let mut bytes = vec![0; size as usize];
        random.fill(&mut bytes[..]);
        bytes
    };
    (0..bodies).map(|_| body()).collect()
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write as _};
    use std::os::fd::AsRawFd as _;
    use std::path::PathBuf;

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    fn of_file(name: &str, content: &[u8]) -> Result<Vec<Vec<u8>>, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        let spec = CallSpec { data_file: Some(path), ..CallSpec::default() };
        let data = Data::read(&spec, io::empty()).and_then(|data| data.unwrap().requests());
        data.map_err(|error| error.to_string().replace(folder.path().to_str().unwrap(), "DIR"))
    }

    #[test]
    fn file_ending_says_how_many_requests_it_has() {
        assert_eq!(of_file("a.json", b"1\n2").unwrap(), [b"1\n2"]);
        assert_eq!(of_file("a.jsonl", b"1\n\n2\r\n").unwrap(), [b"1", b"2"]);
        assert_eq!(of_file("a.bin", b"\0\0\0\x01x\0\0\0\0").unwrap(), [&b"x"[..], b""]);
    }

    #[test]
    fn standard_input_and_files_serve_as_data() {
        let read = |data: &str| {
            let spec = CallSpec { data: Some(data.to_owned()), ..CallSpec::default() };
            Data::read(&spec, &b"typed"[..]).unwrap().unwrap().bytes
        };
        assert_eq!([read("@-"), read("given"), read("-")], [&b"typed"[..], b"given", b"-"]);
    }

    #[test]
    fn pipe_is_read_to_its_end_and_refused_without_a_writer() {
        let (reader, mut writer) = io::pipe().unwrap();
        let path = PathBuf::from(format!("/proc/self/fd/{}", reader.as_raw_fd()));
        let writing = std::thread::spawn(move || writer.write_all(b"late").unwrap());
        let spec = CallSpec { data_file: Some(path), ..CallSpec::default() };
        assert_eq!(Data::read(&spec, io::empty()).unwrap().unwrap().bytes, b"late");
        writing.join().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let spec = CallSpec { data_file: Some(path), ..CallSpec::default() };
        let refusal = Data::read(&spec, io::empty()).unwrap_err().to_string();
        assert!(
            refusal.ends_with("nothing writes to this pipe; start what does first"),
            "{refusal}"
        );
    }

    #[test]
    fn unusable_data_is_refused_with_remedy() {
        insta::assert_snapshot!(of_file("a.json", b"").unwrap_err(), @"--data-file DIR/a.json: is empty; leave the option out for calls without data");
        insta::assert_snapshot!(of_file("a.bin", b"\0\0\0\x05x").unwrap_err(), @"DIR/a.bin: no whole message at byte 0; expected messages, each after its length in four bytes, big-endian");
        let refusal = |spec: CallSpec| Data::read(&spec, io::empty()).unwrap_err().to_string();
        let both = CallSpec {
            data: Some("{}".into()),
            data_file: Some("f".into()),
            ..CallSpec::default()
        };
        insta::assert_snapshot!(refusal(both), @"--data contradicts --data-file f: calls have one source of data; leave one of them out");
        let folder = CallSpec { data: Some("@/".into()), ..CallSpec::default() };
        insta::assert_snapshot!(refusal(folder), @"--data /: can't be read: it is a folder; give a file");
        let missing = CallSpec { data_file: Some("/no/file".into()), ..CallSpec::default() };
        insta::assert_snapshot!(refusal(missing), @"--data-file /no/file: can't be read: No such file or directory (os error 2)");
    }

    #[test]
    fn random_bodies_differ_and_repeat_with_their_seed() {
        let bodies = random(100, 7);
        assert_eq!((bodies.len(), &bodies), (16, &random(100, 7)));
        assert!(bodies.windows(2).all(|pair| pair[0] != pair[1] && pair[0].len() == 100));
        assert_eq!(random(64 << 20, 7).len(), 1);
    }
}
