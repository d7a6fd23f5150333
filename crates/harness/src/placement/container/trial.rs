//! Tests what a run needs from an engine: a container with limits, from an image without a base.

use std::fs;
use std::path::Path;
use std::rc::Rc;
use std::thread;
use std::time::Duration;

use rpcbench_record::{Limits, Protocol, TlsMode};

use super::engine::Engine;
use super::image::LABEL;
use super::{ContainerPlacement, Containers, PlacementError, SiteOptions};
use crate::manifest::{DOCKERFILE, Entry, Server};
use crate::placement::Placement as _;
use crate::placement::local_placement::LocalPlacement;

const NAME: &str = "doctor";
const IMAGE: &str = "rpcbench/doctor";
const MEMORY: u64 = 64 << 20;

/// ELF code of this processor architecture, and machine code that waits for a signal.
#[cfg(target_arch = "x86_64")]
const WAITING: (u8, &[u8]) = (
    62,
    // mov eax, 34 (pause); syscall; again
    &[0xB8, 34, 0, 0, 0, 0x0F, 0x05, 0xEB, 0xF7],
);
#[cfg(target_arch = "aarch64")]
const WAITING: (u8, &[u8]) = (
    183,
    // x0 to x3 = 0; x8 = 73 (ppoll); svc 0; again
    &[
        0, 0, 0x80, 0xD2, 1, 0, 0x80, 0xD2, 2, 0, 0x80, 0xD2, 3, 0, 0x80, 0xD2, 0x28, 9, 0x80,
        0xD2, 1, 0, 0, 0xD4, 0xFA, 0xFF, 0xFF, 0x17,
    ],
);

/// Starts and stops a container. Builds a temporary image for it.
pub(super) fn start_and_end(engine: &Engine) -> Result<(), PlacementError> {
    let folder = tempfile::tempdir()?;
    let path = folder.path();
    fs::write(path.join(NAME), program())?;
    // COPY keeps the file's mode.
    fs::set_permissions(path.join(NAME), std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    fs::write(path.join(DOCKERFILE), format!("FROM scratch\nCOPY {NAME} /\n"))?;
    engine.run(&["build", "--label", LABEL, "--tag", IMAGE, &path.to_string_lossy()])?;
    // Opening a site moves the thread off the servers' CPUs.
    let tried = thread::scope(|scope| scope.spawn(|| start(engine.program(), path)).join());
    engine.run(&["rmi", "-f", IMAGE])?;
    tried.unwrap_or_else(|_| Err(PlacementError("the trial panicked".to_owned())))
}

fn start(engine: &str, folder: &Path) -> Result<(), PlacementError> {
    let limits = Limits { cpus: 1, memory_bytes: Some(MEMORY) };
    let options = SiteOptions { limits, logs: folder.to_owned(), ..SiteOptions::default() };
    let server = Server {
        name: NAME.to_owned(),
        command: vec![format!("/{NAME}")],
        stop_timeout: Duration::from_secs(2),
        ..Server::default()
    };
    let entry =
        Entry { server: server.into(), ..Entry::existing(NAME.to_owned(), Protocol::default()) };
    let site = Rc::new(Containers::open(engine, options)?);
    let place = LocalPlacement::measured(&site.machine, entry);
    let placement = ContainerPlacement { site, place, image: Ok(IMAGE.to_owned()) };
    placement.start(1, TlsMode::Off)?.stop()
}

/// A program without libraries: the headers of an ELF file with one segment, and the code (elf(5)).
fn program() -> Vec<u8> {
    const HEADERS: usize = 64 + 56;
    const BASE: u64 = 0x40_0000;
    let (processor, code) = WAITING;
    let length = (HEADERS + code.len()) as u64;
    let words = |words: &[u16]| words.iter().flat_map(|it| it.to_le_bytes()).collect::<Vec<u8>>();
    let longs = |longs: &[u64]| longs.iter().flat_map(|it| it.to_le_bytes()).collect::<Vec<u8>>();
    [
        // 64 bits, little-endian; executable.
        b"\x7FELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec(),
        words(&[2, processor.into(), 1, 0]),
        longs(&[BASE + HEADERS as u64, 64, 0]),
        words(&[0, 0, 64, 56, 1, 0, 0, 0]),
        // Load the whole file as readable and executable.
        words(&[1, 0, 5, 0]),
        longs(&[0, BASE, BASE, length, length, 0x1000]),
        code.to_vec(),
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::Command;

    use super::*;

    #[test]
    fn program_waits_for_a_signal() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(NAME);
        fs::write(&path, program()).unwrap();
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let mut child = Command::new(&path).spawn().unwrap();
        child.kill().unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(9));
    }
}
