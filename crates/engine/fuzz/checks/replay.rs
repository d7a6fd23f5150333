//! Replays a committed corpus without a fuzzer. The fuzz targets of `crates/schema` include this file, too.

use std::fs;
use std::path::Path;

/// Plays the inputs of a target of this crate.
pub fn replay(target: &str, play: fn(&[u8])) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let files: Vec<_> = fs::read_dir(&corpus).unwrap().map(|file| file.unwrap().path()).collect();
    assert!(files.len() > 20, "{}: {} files", corpus.display(), files.len());
    files.iter().for_each(|file| play(&fs::read(file).unwrap()));
}
