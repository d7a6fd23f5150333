//! Servers with TLS in containers.

use rustix::process::Signal;

use crate::foreign::docker::Docker;
use crate::serve::port;
use crate::tls::bench_with_tls;

#[test]
#[ignore = "needs a container engine: scripts/peers.sh"]
fn server_in_a_container_reads_the_certificate_but_cannot_change_it() {
    let docker = Docker::of(bench_with_tls(), "USER 65533", None);
    docker.run("check @honest --tls").expect(0).shows(&["passed: 66 cases"]);
    let mut program = docker.start(&format!("serve @honest --tls --port {}", port()));
    program.await_line("rpcbench load 127.0.0.1:");
    let names = docker.await_containers(program.pid(), 1);
    let mounts = "{{range .Mounts}}{{if not .RW}}{{.Destination}}{{end}}{{end}}";
    let read_only = docker.docker(&["inspect", "--format", mounts, &names[0]]);
    assert!(read_only.contains("/tls-"), "{read_only}");
    program.signal(Signal::INT);
    let ended = program.finish().expect(0);
    docker.await_containers(ended.pid, 0);
}
