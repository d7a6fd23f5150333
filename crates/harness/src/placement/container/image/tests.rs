//! Images, built by scripts that imitate engines.

use rpcbench_record::Role;

use super::*;
use crate::interrupt::Interrupt;
use crate::manifest::Catalog;
use crate::placement::container::engine::fake;

fn env(all: &[(&str, &str)]) -> BuildEnv {
    BuildEnv::new(all.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())))
}

#[test]
fn every_server_and_client_has_a_dockerfile_and_base_images() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (role, of_java) in
        [(Role::Server, "servers/java/Dockerfile"), (Role::Client, "clients/java/Dockerfile")]
    {
        let catalog = Catalog::of(&repository, role).expect("manifests");
        for server in catalog.servers() {
            let dockerfile = Image::of(server).dockerfile.expect(&server.name);
            let is_own = dockerfile.starts_with(&server.folder);
            assert!(is_own || bases(server).expect("a table").is_some(), "{}", server.name);
            if server.language == "kotlin" {
                assert!(dockerfile.ends_with(of_java), "{dockerfile:?}");
            }
        }
    }
}

/// The engine's command is a script that fails during another build.
#[test]
fn images_are_built_one_at_a_time_and_must_exist_then() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = folder.path().join("engine");
    let busy = folder.path().join("busy");
    let script = format!(
        "#!/bin/sh\nimage() {{ echo \"{0}-$1\" | tr : -; }}\n\
         case $1 in build) ;; image) mkdir -p {0}-rpcbench; test -e \"$(image \"$5\")\"; exit ;; *) exit 0 ;; esac\n\
         mkdir {0} || exit\ni=0; while [ $i -lt 10000 ]; do i=$((i + 1)); done\nrmdir {0}\n\
         while [ $1 != --tag ]; do shift; done\n[ -e {1} ] || touch \"$(image \"$2\")\"\n",
        busy.display(),
        folder.path().join("forgets").display()
    );
    std::fs::write(&engine, script).expect("a script");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&engine, mode).expect("a program");
    let env = env(&[("PATH", "/usr/bin:/bin")]);
    let builder =
        ImageBuilder::open(Engine::new(&engine.to_string_lossy(), &Interrupt::default()), &env)
            .expect("an engine");
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let catalog = Catalog::load(&repository).expect("servers");
    let build = |name: &str| {
        let mut servers = catalog.servers().iter();
        let server = servers.find(|server| server.name == name).expect(name);
        let mut server = Server::clone(server);
        server.build_folder = folder.path().join("build").join(name);
        let (_, state) = builder.build(&server, true, &mut |_| true);
        assert!(matches!(state, BuildState::Built(_)), "{state:?}");
    };
    std::thread::scope(|scope| {
        scope.spawn(|| build("go-grpc"));
        scope.spawn(|| build("node-fastify"));
    });
    std::fs::write(folder.path().join("forgets"), "").expect("a file");
    let mut servers = catalog.servers().iter();
    let mut server = Server::clone(servers.find(|it| it.name == "go-grpc").expect("go-grpc"));
    server.build_folder = folder.path().join("build/forgotten");
    server.build.command.push("another".to_owned());
    let (_, state) = builder.build(&server, true, &mut |_| true);
    let BuildState::Failed(failure) = state else { panic!("{state:?}") };
    assert!(failure.reason.contains("the build left no image rpcbench/"), "{failure:?}");
}

#[test]
fn words_are_quoted_for_a_shell() {
    assert_eq!(quoted("it's $HOME"), r"'it'\''s $HOME'");
}

#[test]
fn registries_are_exported_with_certificates_as_the_build_sees_them() {
    let env = env(&[
        ("GOPROXY", "https://it's.example"),
        ("HOME", "/home/me"),
        ("PIP_CERT", "/etc/ca.pem"),
        ("SSL_CERT_FILE", "/etc/ca.pem"),
    ]);
    let expected = "export GOPROXY='https://it'\\''s.example'\nexport PIP_CERT='/run/secrets/ca'\n\
                    export SSL_CERT_FILE='/run/secrets/ca'\n";
    assert_eq!(registries(&env), expected);
}

#[test]
fn build_without_buildkit_says_what_to_install() {
    let failed = |line: &str| BuildError(format!("go-grpc: 'docker build' failed\n{line}"));
    let said = explained(failed("the --mount option requires BuildKit")).to_string();
    assert!(said.ends_with(BUILDKIT), "{said}");
    let said = explained(failed("main.go:3: undefined")).to_string();
    assert!(said.ends_with("main.go:3: undefined"), "{said}");
}

/// An engine's default limits may be higher, and it may lack the right to raise them.
#[test]
fn lock_file_is_read_from_an_image_with_the_limits_of_this_process() {
    let (folder, engine) = fake("echo \"$@\"");
    let env = env(&[]);
    let builder = ImageBuilder::open(engine, &env).expect("an engine");
    let build_folder = folder.path().join("build/ruby-grpc");
    let lock = build_folder.join("packages.lock");
    let image = Image::of(&Server { build_folder, lock, ..Server::default() });
    builder.fetch_lock(&image, "ruby").expect("a lock file");
    let command = std::fs::read_to_string(&image.sources.lock).expect("a lock file");
    assert!(command.contains("--ulimit nofile="), "{command}");
    assert!(command.ends_with("--entrypoint cat ruby /server/packages.lock\n"), "{command}");
}
