//! Findings of `doctor` about container engines.

use rpcbench_record::units::{bytes, plural};

use super::engine::Engine;
use super::facts::{Docker, Found, Podman, PodmanHost, parted};
use super::image::{BUILDKIT, LABEL};
use super::trial::start_and_end;
use super::{DOCKER, PODMAN};
use crate::finding::{Finding, advice, fine};
use crate::interrupt::Interrupt;

const DOCKER_ROOT: &str = "use an engine that runs as root; --in docker refuses this one";

const DOCKER_USERNS: &str =
    "remove userns-remap from /etc/docker/daemon.json; --in docker refuses every server otherwise";

const PODMAN_ROOT: &str = "run rpcbench as root, or delegate the controllers cpuset and memory of cgroup v2 to your user; --in podman refuses it as it is";

const NO_CONTAINER: &str =
    "correct what it complains of; servers in containers would fail in the same way";

/// Findings about the engines of this machine.
pub(in crate::placement) fn examine() -> Vec<Finding> {
    let engines = [DOCKER, PODMAN].map(|program| Engine::new(program, &Interrupt::default()));
    let [docker, podman] = &engines;
    let mut found = findings(&Found::ask(docker), Podman::ask(podman).as_ref());
    found.extend(engines.iter().flat_map(tried));
    found
}

/// Findings about an engine that may run servers: a trial container, and the images that it stores.
fn tried(engine: &Engine) -> Vec<Finding> {
    if engine.version().is_err() || obstacle(engine).is_some() {
        return Vec::new();
    }
    let id = format!("{}-run", engine.name());
    let started = match start_and_end(engine) {
        Ok(()) => fine(&id, "a container starts, and its limits are in force".to_owned()),
        Err(error) => {
            let (reason, remedy) = parted(&error.0);
            advice(&id, reason.to_owned(), remedy.unwrap_or(NO_CONTAINER))
        }
    };
    [started].into_iter().chain(images(engine)).collect()
}

/// The images built for servers. `None` without any.
fn images(engine: &Engine) -> Option<Finding> {
    let filter = format!("label={LABEL}");
    let listed = engine.run(&["image", "ls", "--filter", &filter, "--quiet"]).ok()?;
    let number = listed.lines().count() as u64;
    let name = engine.name();
    let of_builds = if engine.is_podman() { "podman image prune" } else { "docker builder prune" };
    let what = format!(
        "{} of servers; `{name} image prune --all --filter {filter}` removes those without a container, `{of_builds}` what \
         builds left",
        plural(number, "image")
    );
    (number > 0).then(|| fine(&format!("{name}-images"), what))
}

fn findings(docker: &Found, podman: Option<&Podman>) -> Vec<Finding> {
    let mut found = match docker {
        Found::Missing => {
            vec![fine("docker", "not installed, so no --in docker".to_owned())]
        }
        Found::Silent { reason, remedy } => {
            let remedy = remedy.unwrap_or("run `docker info`, and correct what it complains of");
            vec![advice("docker", reason.clone(), remedy)]
        }
        Found::Answers { docker, bridges, free_bytes } => answers(docker, bridges, *free_bytes),
    };
    found.extend(podman.map(podman_finding));
    found
}

/// Why a running engine can't run servers, and the remedy. `None` if it may be able to.
pub(super) fn obstacle(engine: &Engine) -> Option<String> {
    let found = match engine.is_podman() {
        true => podman_finding(&Podman::ask(engine)?),
        false => match Found::ask(engine) {
            Found::Answers { docker, .. } => self::engine(&docker),
            Found::Missing | Found::Silent { .. } => return None,
        },
    };
    found.remedy.map(|remedy| format!("{}: {}; {remedy}", found.id, found.what))
}

fn answers(docker: &Docker, bridges: &[String], free_bytes: Option<u64>) -> Vec<Finding> {
    let mut found = vec![engine(docker), build(docker)];
    found.extend(bridge(bridges));
    found.extend(free_bytes.map(disk));
    found
}

fn engine(docker: &Docker) -> Finding {
    let Docker { server_version, cgroup_driver, cgroup_version, driver, .. } = docker;
    let cgroup = if cgroup_version.is_empty() { "1" } else { cgroup_version };
    let user = if docker.is_rootless() { "rootless" } else { "as root" };
    let what =
        format!("docker {server_version}, {user}, cgroup v{cgroup} by {cgroup_driver}, {driver}");
    if docker.remaps_users() {
        return advice("docker", format!("{what}; it remaps users (userns-remap)"), DOCKER_USERNS);
    }
    match docker.cpu_set && docker.memory_limit && cgroup_driver != "none" {
        true => fine("docker", what),
        false => advice("docker", format!("{what}; it ignores CPU or memory limits"), DOCKER_ROOT),
    }
}

fn build(docker: &Docker) -> Finding {
    match docker.has_buildkit() {
        true => fine("docker-build", "images are built with BuildKit".to_owned()),
        false => {
            advice("docker-build", "no BuildKit, so no image can be built".to_owned(), BUILDKIT)
        }
    }
}

/// Servers in containers use the host's network, but a bridge still costs time because of its packet filter rules.
fn bridge(bridges: &[String]) -> Option<Finding> {
    (!bridges.is_empty()).then(|| {
        advice(
            "docker-bridge",
            format!(
                "bridge network {}: its packet filter has slowed all loopback traffic by up to 20 % elsewhere",
                bridges.join(", ")
            ),
            "on a machine for benchmarks only: \"bridge\": \"none\" and \"iptables\": false in /etc/docker/daemon.json",
        )
    })
}

fn disk(free: u64) -> Finding {
    const ENOUGH: u64 = 10 << 30;
    let what = format!("{} free for images", bytes(free));
    match free >= ENOUGH {
        true => fine("docker-disk", what),
        false => advice(
            "docker-disk",
            format!("{what}; a language takes 1 to 3 GiB"),
            "free space; `docker image prune --all --filter label=dev.rpcbench=build` removes rpcbench's own images",
        ),
    }
}

fn podman_finding(podman: &Podman) -> Finding {
    let PodmanHost { cgroup_version, cgroup_manager, cgroup_controllers, security } = &podman.host;
    let user = if security.rootless { "rootless" } else { "as root" };
    let version = &podman.version.version;
    let what = format!("podman {version}, {user}, cgroup {cgroup_version} by {cgroup_manager}");
    let limits =
        ["cpuset", "memory"].iter().all(|name| cgroup_controllers.iter().any(|it| it == name));
    match limits {
        true => fine("podman", what),
        false => advice("podman", format!("{what}; it ignores CPU or memory limits"), PODMAN_ROOT),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::placement::container::engine::fake;

    /// Output of `docker info`, without unused fields.
    const ROOT_20: &str = include_str!("recorded/docker-20.10.json");
    const SILENT_28: &str = include_str!("recorded/docker-28.2-silent.json");
    const PODMAN: &str = include_str!("recorded/podman-4.3.json");

    fn shown(docker: &Found, podman: Option<&str>) -> String {
        let podman: Option<Podman> = podman.map(|text| serde_json::from_str(text).unwrap());
        lines(findings(docker, podman.as_ref()))
    }

    fn lines(findings: Vec<Finding>) -> String {
        let line = |finding: Finding| {
            let remedy = finding.remedy.map(|text| format!("\n    -> {text}")).unwrap_or_default();
            format!("{:?} {}: {}{remedy}", finding.severity, finding.id, finding.what)
        };
        findings.into_iter().map(line).collect::<Vec<_>>().join("\n")
    }

    fn answers(docker: Docker) -> Found {
        Found::Answers { docker, bridges: Vec::new(), free_bytes: Some(40 << 30) }
    }

    fn parsed(text: &str) -> Docker {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn engine_that_runs_as_root_is_fine() {
        insta::assert_snapshot!(shown(&answers(parsed(ROOT_20)), None), @r#"
        Ok docker: docker 20.10.24+dfsg1, as root, cgroup v1 by cgroupfs, overlay2
        Ok docker-build: images are built with BuildKit
        Ok docker-disk: 40 GiB free for images
        "#);
    }

    #[test]
    fn obstacles_of_engines_have_remedies() {
        let mut docker = parsed(ROOT_20);
        docker.client_info = parsed(SILENT_28).client_info;
        docker.cgroup_driver = "none".to_owned();
        docker.security_options = Some(vec!["name=rootless".to_owned()]);
        let bridges = vec!["bridge".to_owned(), "my-app".to_owned()];
        let found = Found::Answers { docker, bridges, free_bytes: Some(2 << 30) };
        insta::assert_snapshot!(shown(&found, Some(PODMAN)), @r#"
        Advice docker: docker 20.10.24+dfsg1, rootless, cgroup v1 by none, overlay2; it ignores CPU or memory limits
            -> use an engine that runs as root; --in docker refuses this one
        Advice docker-build: no BuildKit, so no image can be built
            -> images need BuildKit: install docker-buildx-plugin (Docker's packages) or docker-buildx (Debian, Ubuntu)
        Advice docker-bridge: bridge network bridge, my-app: its packet filter has slowed all loopback traffic by up to 20 % elsewhere
            -> on a machine for benchmarks only: "bridge": "none" and "iptables": false in /etc/docker/daemon.json
        Advice docker-disk: 2 GiB free for images; a language takes 1 to 3 GiB
            -> free space; `docker image prune --all --filter label=dev.rpcbench=build` removes rpcbench's own images
        Ok podman: podman 4.3.1, as root, cgroup v1 by cgroupfs
        "#);
    }

    #[test]
    fn docker_that_remaps_users_has_a_remedy() {
        let mut docker = parsed(ROOT_20);
        docker.security_options = Some(vec!["name=userns".to_owned()]);
        let shown = shown(&answers(docker), None);
        let (first, _) = shown.split_once("\nOk").unwrap();
        insta::assert_snapshot!(first, @r#"
        Advice docker: docker 20.10.24+dfsg1, as root, cgroup v1 by cgroupfs, overlay2; it remaps users (userns-remap)
            -> remove userns-remap from /etc/docker/daemon.json; --in docker refuses every server otherwise
        "#);
    }

    #[test]
    fn engine_that_would_refuse_every_server_is_refused_before_builds() {
        let info = |info: &str| fake(&format!("cat <<'END'\n{info}\nEND"));
        let (_folder, engine) = info(ROOT_20);
        assert_eq!(obstacle(&engine), None);
        let (_folder, engine) =
            info(&ROOT_20.replace("name=seccomp,profile=default", "name=userns"));
        let obstacle = obstacle(&engine).unwrap();
        assert!(
            obstacle.contains("it remaps users (userns-remap); remove userns-remap"),
            "{obstacle}"
        );
    }

    #[test]
    fn engine_is_tried_and_its_images_are_counted() {
        let said = "Error: OCI runtime error: crun: cgroups in hybrid mode not supported";
        let (folder, engine) = fake(&format!(
            "case $1 in version) echo 20.10.24 ;; info) cat <<'END'\n{ROOT_20}\nEND\n;;\n\
             run) echo '{said}' >&2; exit 1 ;; image) echo 4f5a; echo 91c0 ;; esac"
        ));
        let shown = lines(tried(&engine)).replace(&*folder.path().to_string_lossy(), "");
        insta::assert_snapshot!(shown, @r#"
        Advice docker-run: `/docker run` failed: Error: OCI runtime error: crun: cgroups in hybrid mode not supported
            -> let podman use runc: runtime = "runc" under [engine] in /etc/containers/containers.conf
        Ok docker-images: 2 images of servers; `docker image prune --all --filter label=dev.rpcbench=build` removes those without a container, `docker builder prune` what builds left
        "#);
        let (_folder, engine) = fake("exit 1");
        assert_eq!(tried(&engine), []);
    }

    #[test]
    fn podman_that_ignores_limits_has_a_remedy() {
        let rootless =
            PODMAN.replace("\"rootless\": false", "\"rootless\": true").replace("\"cpuset\",", "");
        insta::assert_snapshot!(shown(&Found::Missing, Some(&rootless)), @r#"
        Ok docker: not installed, so no --in docker
        Advice podman: podman 4.3.1, rootless, cgroup v1 by cgroupfs; it ignores CPU or memory limits
            -> run rpcbench as root, or delegate the controllers cpuset and memory of cgroup v2 to your user; --in podman refuses it as it is
        "#);
    }

    #[test]
    fn engine_that_does_not_answer_says_why() {
        assert_eq!(shown(&Found::Missing, None), "Ok docker: not installed, so no --in docker");
        let said =
            "Cannot connect to the Docker daemon at unix:///x. Is the docker daemon running?";
        let script =
            format!("[ \"$1\" = info ] || exit 0; echo '{SILENT_28}'; echo '{said}' >&2; exit 1");
        let (folder, engine) = fake(&script);
        let shown = shown(&Found::ask(&engine), None);
        let shown = shown.replace(&*folder.path().to_string_lossy(), "");
        insta::assert_snapshot!(shown, @r#"
        Advice docker: `/docker info` failed: Cannot connect to the Docker daemon at unix:///x. Is the docker daemon running?
            -> start the daemon (sudo systemctl start docker), or point DOCKER_HOST at a running one
        "#);
    }

    #[test]
    fn command_before_23_builds_with_buildkit_without_a_plugin() {
        let with = |version: &str, plugins: &str| {
            parsed(&format!(
                r#"{{"ClientInfo": {{"Version": "{version}", "Plugins": [{plugins}]}}, "ServerVersion": "20.10.24+dfsg1"}}"#
            ))
            .has_buildkit()
        };
        assert!(with("20.10.24+dfsg1", ""));
        assert!(with("", ""));
        assert!(!with("28.2.2", ""));
        assert!(with("28.2.2", r#"{"Name": "buildx"}"#));
    }
}
