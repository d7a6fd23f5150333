//! What a server gets from its language, its variants and the defaults.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use rpcbench_harness::build_env::BuildEnv;
use rpcbench_harness::doctor;
use rpcbench_harness::manifest::{Catalog, Entry, MatrixCell};
use rpcbench_harness::toolchain::Probe;
use rpcbench_record::{Limits, Protocol};

use super::{LANGUAGE, SERVER, language_refusal, load, named, root, server_refusal, write};

fn languages(catalog: &Catalog) -> Vec<doctor::Language> {
    let servers = catalog.servers().iter().map(|server| &**server);
    doctor::languages(servers, &BuildEnv::default())
}

#[test]
fn protocols_with_tls_are_some_or_all_of_the_server() {
    let with = |tls: &str| {
        let root = root();
        let text = SERVER.replacen("library =", &format!("tls = {tls}\nlibrary ="), 1);
        write(root.path(), "servers/java/grpc/server.toml", &text);
        load(&root).servers()[1].tls.clone()
    };
    assert_eq!(with("true"), load(&root()).servers()[1].protocols);
    assert_eq!(with("[\"grpc\"]"), [Protocol::Grpc]);
    assert_eq!(with("false"), []);
    insta::assert_snapshot!(server_refusal("library =", "tls = [\"tcp-echo\"]\nlibrary ="), @r#"servers/java/grpc/server.toml:2: tls = ["tcp-echo"]: tcp-echo is not one of its protocols"#);
    insta::assert_snapshot!(server_refusal("library =", "tls = \"on\"\nlibrary ="), @r#"servers/java/grpc/server.toml:2: tls = "on": expected true, or a list of protocols such as ["grpc"]"#);
}

#[test]
fn nearest_layer_wins() {
    let root = root();
    let catalog = load(&root);
    let servers: Vec<&str> = catalog.servers().iter().map(|server| server.name.as_str()).collect();
    assert_eq!(servers, ["go-grpc", "java-grpc"]);
    let (go, java) = (&catalog.servers()[0], &catalog.servers()[1]);
    assert_eq!(java.ready_timeout, Duration::from_secs(40));
    assert_eq!(java.stop_timeout, Duration::from_secs(5));
    assert_eq!(go.stop_timeout, Duration::from_secs(9));
    assert_eq!(java.env["SHARED"], "server");
    assert_eq!(java.env["COMMON"], "language");
    let top = root.path().canonicalize().unwrap();
    assert_eq!(java.lock, top.join("servers/java/grpc/gradle.lockfile"));
    assert_eq!(go.lock, top.join("build/servers/go-grpc/go.sum"));
    assert_eq!(java.build_command()[2], top.join("build/servers/java-grpc").to_str().unwrap());
}

#[test]
fn server_may_need_another_toolchain() {
    let root = root();
    let thrift = r#"
[[toolchain]]
name = "thrift"
command = ["thrift", "--version"]
version = 'version (\S+)'
install = "Thrift's compiler"
"#;
    write(root.path(), "servers/java/thrift/server.toml", &format!("{SERVER}{thrift}"));
    let catalog = load(&root);
    let needed = |name: &str| -> Vec<&str> {
        let server = catalog.servers().iter().find(|server| server.name == name).unwrap();
        server.toolchains.iter().map(|tool| tool.name.as_str()).collect()
    };
    assert_eq!(needed("java-grpc"), ["java"]);
    assert_eq!(needed("java-thrift"), ["java", "thrift"]);
    let languages = languages(&catalog);
    let java = languages.iter().find(|language| language.name == "java").unwrap();
    assert_eq!(java.probes.iter().map(Probe::name).collect::<Vec<_>>(), ["java", "thrift"]);
}

#[test]
fn server_may_need_a_newer_toolchain_than_its_language() {
    let root = root();
    let tool = r#"command = ["/bin/sh", "-c", "echo version '\"30'"]"#;
    let language = LANGUAGE.replace(r#"command = ["java", "-version"]"#, tool);
    write(root.path(), "servers/java/_language.toml", &language);
    let is_found = |catalog: &Catalog| -> Vec<bool> {
        let languages = languages(catalog);
        let java = languages.iter().find(|language| language.name == "java").unwrap();
        java.probes.iter().map(|probe| probe.found().is_some()).collect()
    };
    assert_eq!(is_found(&load(&root)), [true]);
    let (_, newer) = language.split_once("[[toolchain]]").unwrap();
    let (newer, _) = newer.split_once("\n[").unwrap();
    let newer = format!("{SERVER}\n[[toolchain]]{}\n", newer.replace("\"25\"", "\"31\""));
    write(root.path(), "servers/java/thrift/server.toml", &newer);
    let catalog = load(&root);
    let minimum = |name: &str| -> Vec<&str> {
        let server = catalog.servers().iter().find(|server| server.name == name).unwrap();
        server.toolchains.iter().filter_map(|tool| tool.minimum.as_deref()).collect()
    };
    assert_eq!((minimum("java-grpc"), minimum("java-thrift")), (vec!["25"], vec!["31"]));
    assert_eq!(is_found(&catalog), [false]);
}

#[test]
fn language_may_share_anothers_toolchains() {
    let root = root();
    let (_, rest) = LANGUAGE.split_once("[build]").unwrap();
    let kotlin = format!("name = \"Kotlin\"\ntoolchains_of = \"java\"\n[build]{rest}");
    write(root.path(), "servers/kotlin/_language.toml", &kotlin);
    write(root.path(), "servers/kotlin/grpc/server.toml", SERVER);
    let catalog = load(&root);
    let server = catalog.servers().iter().find(|server| server.name == "kotlin-grpc").unwrap();
    let needed: Vec<&str> = server.toolchains.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(needed, ["java"]);
    insta::assert_snapshot!(language_refusal("name = \"Java\"", "name = \"Java\"\ntoolchains_of = \"jawa\""), @r#"servers/java/_language.toml:3: toolchains_of = "jawa": no such file: servers/jawa/_language.toml"#);
}

#[test]
fn server_without_a_build_command_runs_only_in_a_container() {
    let root = root();
    let ada = LANGUAGE.replace("Java", "Ada");
    let (before, rest) = ada.split_once("[[toolchain]]").unwrap();
    let runtime = rest.split_once("[runtime]").unwrap().1;
    write(root.path(), "servers/ada/_language.toml", &format!("{before}[runtime]{runtime}"));
    write(root.path(), "servers/ada/aws/server.toml", SERVER);
    let broken = load(&root).broken().iter().map(|it| it.error.to_string()).collect::<String>();
    assert!(broken.contains("'build.command' is missing"), "{broken}");
    write(root.path(), "servers/ada/aws/Dockerfile", "FROM scratch");
    let catalog = load(&root);
    let of = |name: &str| catalog.servers().iter().find(|server| server.name == name).unwrap();
    assert!(of("ada-aws").build.container_only && !of("java-grpc").build.container_only);
    let cells = catalog.matrix().rows.into_iter().flat_map(|row| row.cells).collect::<Vec<_>>();
    let cell = |name: &str| MatrixCell::Servers(vec![name.to_owned()]);
    assert!(cells.contains(&cell("ada-aws (container only)")), "{cells:?}");
    let languages = languages(&catalog);
    assert!(languages.iter().all(|language| language.name != "ada"));
}

#[test]
fn variant_changes_command_and_environment() {
    let catalog = load(&root());
    let entry = &catalog.select(&named(&["java-grpc@zgc"])).unwrap()[0];
    let command = entry.command();
    assert_eq!(command[..3], ["java", "-XX:+UseZGC", "-jar"]);
    assert!(command[3].ends_with("/build/servers/java-grpc/server.jar"));
    let base = BTreeMap::from([("PATH".to_owned(), "/bin".to_owned())]);
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 4711));
    let limits = Limits { cpus: 2, memory_bytes: Some(512 << 20) };
    let env = entry.environment(&base, Some(address), &limits);
    for (key, value) in [
        ("PATH", "/bin"),
        ("GC", "z"),
        ("RPCBENCH_HOST", "127.0.0.1"),
        ("RPCBENCH_PORT", "4711"),
        ("RPCBENCH_PROTOCOL", "grpc"),
        ("RPCBENCH_CPUS", "2"),
        ("RPCBENCH_MEMORY", "536870912"),
    ] {
        assert_eq!(env[key], value, "{key}");
    }
    let g1 = &catalog.select(&named(&["java-grpc@g1"])).unwrap()[0];
    assert_eq!(g1.command()[..2], ["java", "-jar"]);
    let unlimited = Limits { cpus: 2, memory_bytes: None };
    assert!(!g1.environment(&base, Some(address), &unlimited).contains_key("RPCBENCH_MEMORY"));
}

#[test]
fn variant_may_have_its_own_build() {
    let root = root();
    let own = r#"
[variants.pgo]
note = "with a profile"
lock = "pgo.sum"
env = { PROFILE = "on" }
build.command = ["sh", "../build.sh", "pgo", "{build}"]
[variants.patient]
note = "warms up longer"
runtime.warmup_max = "90s"
"#;
    write(root.path(), "servers/java/grpc/server.toml", &format!("{SERVER}{own}"));
    let catalog = load(&root);
    let [shared, pgo, patient] = ["g1", "pgo", "patient"].map(|variant| {
        let name = format!("java-grpc@{variant}");
        let entry = catalog.select(&named(&[&name])).unwrap().remove(0);
        assert_eq!(entry.name(), name);
        entry
    });
    let folder = |entry: &Entry| entry.server.build_name().into_owned();
    assert_eq!([&shared, &pgo, &patient].map(folder), ["java-grpc", "java-grpc@pgo", "java-grpc"]);
    assert!(pgo.server.build_command()[3].ends_with("/build/servers/java-grpc@pgo"));
    assert!(pgo.command()[2].ends_with("/build/servers/java-grpc@pgo/server.jar"));
    assert!(pgo.server.lock.ends_with("pgo.sum"));
    // What it omits is the server's and the language's.
    assert_eq!(pgo.env()["PROFILE"], "on");
    assert_eq!(pgo.server.build.inputs, shared.server.build.inputs);
    assert_eq!(shared.server.build_command()[1], "../build.sh");
    assert_eq!(patient.server.build_command(), shared.server.build_command());
    assert_eq!(patient.server.runtime.warmup_max, Duration::from_secs(90));
    assert_eq!(patient.server.runtime.warmup_min, shared.server.runtime.warmup_min);
}

#[test]
fn manifests_of_older_revisions_are_read() {
    let root = root();
    let old = LANGUAGE.replace("warmup_min", "least_warm_up").replace("warmup_max", "warm_up_cap");
    write(root.path(), "servers/java/_language.toml", &old);
    let catalog = load(&root);
    let entry = catalog.select(&named(&["java-grpc@g1"])).unwrap().remove(0);
    assert_eq!(entry.server.runtime.warmup_max, Duration::from_secs(20));
}
