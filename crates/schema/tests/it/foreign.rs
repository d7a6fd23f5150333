//! Against libraries that scripts/peers.sh installs.

mod googleapis {
    use std::fs;
    use std::path::Path;
    use std::process::Command;

    use base64::Engine as _;
    use base64::prelude::BASE64_STANDARD;
    use proptest::test_runner::{RngAlgorithm, TestRng};
    use prost_reflect::ReflectMessage as _;

    use crate::json::{Types, well_known};

    /// Enough for every field of every type.
    const MESSAGES: usize = 10_000;

    #[test]
    #[ignore = "needs scripts/peers.sh"]
    fn requests_are_encoded_as_protobuf_for_python_does() {
        let peer = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("peers/grpcio");
        let packages = fs::read_dir(peer.join("lib")).unwrap().next().unwrap().unwrap();
        let folder = packages.path().join("site-packages");
        let imports = well_known().into_iter().chain(files_below(&folder, "google"));
        let types = Types::new(&imports.collect::<Vec<_>>(), &folder);
        let mut rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
        let mut lines = String::new();
        for _ in 0..MESSAGES {
            let (method, message, json) = types.random(&mut rng);
            let request = method.request(json.as_bytes()).unwrap_or_else(|e| panic!("{e}: {json}"));
            let request = BASE64_STANDARD.encode(request);
            lines += &format!("{}\t{request}\t{json}\n", message.descriptor().full_name());
        }
        let own = tempfile::tempdir().unwrap();
        let (set, requests) = (own.path().join("set"), own.path().join("requests"));
        fs::write(&set, types.schema.to_protoset()).unwrap();
        fs::write(&requests, lines).unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/json_peer.py");
        let mut python = Command::new(peer.join("bin/python"));
        let ended = python.arg(script).args([set, requests]).output().unwrap();
        let out = String::from_utf8_lossy(&ended.stdout);
        let err = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(out, format!("{MESSAGES} alike\n"), "{err}");
    }

    /// `.proto` files of a package below a folder, as they are imported.
    fn files_below(folder: &Path, package: &str) -> Vec<String> {
        let mut found = Vec::new();
        for item in fs::read_dir(folder.join(package)).unwrap().flatten() {
            let name = format!("{package}/{}", item.file_name().to_str().unwrap());
            if item.path().is_dir() {
                found.extend(files_below(folder, &name));
            } else if name.ends_with(".proto") {
                found.push(name);
            }
        }
        found.sort();
        found
    }
}
