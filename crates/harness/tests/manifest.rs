//! Manifests that are right, and what is said about those that are wrong.

use std::collections::BTreeMap;
use std::fs;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::time::Duration;

use rpcbench_harness::build_env::BuildEnv;
use rpcbench_harness::doctor;
use rpcbench_harness::manifest::{Address, Catalog, Entry, MatrixCell, Selection};
use rpcbench_harness::toolchain::Probe;
use rpcbench_record::{ContractProtocol, Limits, Protocol, Role};

const LANGUAGE: &str = r#"
name = "Java"
ready_timeout = "40s"

[[toolchain]]
name = "java"
command = ["java", "-version"]
version = 'version "(\d+)'
minimum = "25"
install = "a JDK"

[build]
command = ["sh", "../build.sh", "{build}"]
inputs = ["../build.sh"]

[runtime]
warmup_min = "2s"
warmup_max = "20s"
compiler_threads = ["C2 CompilerThre"]

[run.env]
SHARED = "language"
COMMON = "language"
"#;

const SERVER: &str = r#"
library = "grpc-java"
protocols = ["grpc"]
lock = "gradle.lockfile"

[versions]
grpc-java = 'io.grpc:grpc-netty:(\S+)='

[run]
command = ["java", "{args}", "-jar", "{build}/server.jar"]
[run.env]
SHARED = "server"

[variants.zgc]
note = "ZGC"
args = ["-XX:+UseZGC"]
env = { GC = "z" }

[variants.g1]
note = "G1"
"#;

const GO: &str = r#"
library = "grpc-go"
protocols = ["grpc"]
lock = "{build}/go.sum"
versions = {}
stop_timeout = "9s"
[run]
command = ["{build}/server", "{server}"]
"#;

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn root() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let at = root.path();
    write(at, "servers/_defaults.toml", "ready_timeout = \"30s\"\nstop_timeout = \"5s\"\n");
    write(at, "servers/java/_language.toml", LANGUAGE);
    write(at, "servers/java/grpc/server.toml", SERVER);
    write(at, "servers/java/shared/Echo.java", "");
    write(at, "servers/go/_language.toml", &LANGUAGE.replace("Java", "Go"));
    write(at, "servers/go/grpc/server.toml", GO);
    root
}

fn load(root: &tempfile::TempDir) -> Catalog {
    Catalog::load(root.path()).unwrap()
}

fn languages(catalog: &Catalog) -> Vec<doctor::Language> {
    let servers = catalog.servers().iter().map(|server| &**server);
    doctor::languages(servers, &BuildEnv::default())
}

fn named(patterns: &[&str]) -> Selection {
    Selection::named(patterns.iter().map(|text| (*text).to_owned()).collect())
}

fn names(catalog: &Catalog, patterns: &[&str]) -> Vec<String> {
    catalog.select(&named(patterns)).unwrap().iter().map(|entry| entry.name()).collect()
}

/// The message about a catalogue in which `path` is replaced by `text`.
fn refusal(path: &str, text: &str) -> String {
    let root = root();
    write(root.path(), path, text);
    let message = match Catalog::load(root.path()) {
        Ok(catalog) => {
            let [broken] = catalog.broken() else { panic!("{:?}", catalog.broken()) };
            broken.error.to_string()
        }
        Err(error) => error.to_string(),
    };
    let top = root.path().canonicalize().unwrap();
    message.replace(&format!("{}/", top.display()), "")
}

fn server_refusal(from: &str, to: &str) -> String {
    assert!(SERVER.contains(from));
    refusal("servers/java/grpc/server.toml", &SERVER.replacen(from, to, 1))
}

fn language_refusal(from: &str, to: &str) -> String {
    assert!(LANGUAGE.contains(from));
    refusal("servers/java/_language.toml", &LANGUAGE.replacen(from, to, 1))
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
    let address = Address { host: IpAddr::V4(Ipv4Addr::LOCALHOST), port: 4711 };
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

#[test]
fn plain_server_is_listed_with_its_variants() {
    let root = root();
    let variant = format!(
        "plain = true\nrepresentative = true\n{GO}[variants.gogc-off]\nnote = \"off\"\nenv = {{ GOGC = \"off\" }}\n"
    );
    write(root.path(), "servers/go/grpc/server.toml", &variant);
    let catalog = load(&root);
    assert_eq!(names(&catalog, &[]), ["go-grpc"]);
    assert_eq!(names(&catalog, &["go-grpc"]), ["go-grpc"]);
    assert_eq!(names(&catalog, &["go-grpc*"]), ["go-grpc", "go-grpc@gogc-off"]);
    let entries = catalog.select(&named(&["go-grpc*"])).unwrap();
    assert!(!entries[0].env().contains_key("GOGC"));
    assert_eq!(entries[1].env()["GOGC"], "off");
}

#[test]
fn variant_selects_all_its_protocols() {
    let root = root();
    let two = GO.replace("[\"grpc\"]", "[\"grpc\", \"json\"]");
    let server = format!("{two}[variants.a]\nnote = \"a\"\n[variants.b]\nnote = \"b\"\n");
    write(root.path(), "servers/go/grpc/server.toml", &server);
    let catalog = load(&root);
    assert_eq!(names(&catalog, &["go-grpc@a"]), ["go-grpc:grpc@a", "go-grpc:json@a"]);
    assert_eq!(names(&catalog, &["go-grpc:json"]), ["go-grpc:json@a", "go-grpc:json@b"]);
    assert_eq!(names(&catalog, &["go-grpc:json@b"]), ["go-grpc:json@b"]);
}

#[test]
fn patterns_select_entries() {
    let catalog = load(&root());
    assert_eq!(names(&catalog, &[]), ["go-grpc", "java-grpc@g1", "java-grpc@zgc"]);
    assert_eq!(names(&catalog, &["java-grpc"]), ["java-grpc@g1", "java-grpc@zgc"]);
    assert_eq!(
        names(&catalog, &["java-*", "go-grpc"]),
        ["java-grpc@g1", "java-grpc@zgc", "go-grpc"]
    );
    assert_eq!(names(&catalog, &["*@zgc"]), ["java-grpc@zgc"]);
    assert_eq!(names(&catalog, &["*@*"]), ["java-grpc@g1", "java-grpc@zgc"]);
    assert_eq!(names(&catalog, &["go-grpc", "go-grpc"]), ["go-grpc", "go-grpc#2"]);
    assert_eq!(
        names(&catalog, &["*", "go-*", "go-grpc"]),
        ["go-grpc", "java-grpc@g1", "java-grpc@zgc"]
    );
    assert_eq!(
        names(&catalog, &["java-grpc@zgc", "java-grpc"]),
        ["java-grpc@zgc", "java-grpc@zgc#2", "java-grpc@g1"]
    );
}

#[test]
fn one_entry_represents_its_language_and_protocol() {
    let root = root();
    let all = ["go-grpc", "java-grpc@g1", "java-grpc@zgc"];
    let names = |catalog: &Catalog, selection: &Selection| -> Vec<String> {
        catalog.select(selection).unwrap().iter().map(|entry| entry.name()).collect()
    };
    // None of Java's is marked.
    assert_eq!(names(&load(&root), &Selection::default()), all);
    let marked = SERVER.replace("note = \"G1\"", "note = \"G1\"\nrepresentative = true");
    write(root.path(), "servers/java/grpc/server.toml", &marked);
    write(root.path(), "servers/go/other/server.toml", GO);
    write(root.path(), "servers/go/grpc/server.toml", &format!("representative = true\n{GO}"));
    let catalog = load(&root);
    assert_eq!(names(&catalog, &Selection::default()), ["go-grpc", "java-grpc@g1"]);
    assert_eq!(names(&catalog, &Selection::ALL).len(), 4);
    // Of several protocols, the first.
    let both = GO.replace("[\"grpc\"]", "[\"json\", \"grpc\"]");
    write(root.path(), "servers/go/other/server.toml", &format!("representative = true\n{both}"));
    let default = names(&load(&root), &Selection::default());
    assert_eq!(default, ["go-grpc", "go-other:json", "java-grpc@g1"]);
    let java = |name: &str| Selection { languages: vec![name.to_owned()], ..Selection::default() };
    assert_eq!(names(&catalog, &java("java")), all[1..]);
    assert_eq!(names(&catalog, &java("Java")), all[1..]);
    let grpc =
        Selection { protocols: vec![ContractProtocol(Protocol::Grpc)], ..Selection::default() };
    assert_eq!(names(&catalog, &grpc).len(), 4);
    let go = Selection { languages: vec!["go".to_owned()], ..named(&["*-grpc"]) };
    assert_eq!(names(&catalog, &go), ["go-grpc"]);
    let error = |selection: &Selection| catalog.select(selection).unwrap_err().to_string();
    insta::assert_snapshot!(error(&java("jawa")), @"no server is written in 'jawa' (did you mean 'java'?); there are: go, java");
    let echo = Selection { protocols: vec![ContractProtocol(Protocol::TcpEcho)], ..java("go") };
    insta::assert_snapshot!(error(&echo), @"no server in go speaks tcp-echo; `rpcbench list --matrix` shows which there are");
}

#[test]
fn unknown_server_suggests_similar_names() {
    let catalog = load(&root());
    let error = |pattern: &str| catalog.select(&named(&[pattern])).unwrap_err().to_string();
    insta::assert_snapshot!(error("java-gprc"), @"no server matches 'java-gprc' (did you mean 'java-grpc'?); `rpcbench list servers` shows all");
    insta::assert_snapshot!(error("GO-GRPC"), @"no server matches 'GO-GRPC' (did you mean 'go-grpc'?); `rpcbench list servers` shows all");
    insta::assert_snapshot!(error("grpc-go"), @"no server matches 'grpc-go' (did you mean 'go-grpc'?); `rpcbench list servers` shows all");
    insta::assert_snapshot!(error("java-grpc@shenandoah"), @"no server matches 'java-grpc@shenandoah' (did you mean 'java-grpc@g1' or 'java-grpc@zgc'?); `rpcbench list servers` shows all");
    insta::assert_snapshot!(error("cobol-*"), @"no server matches 'cobol-*'; `rpcbench list servers` shows all");
    insta::assert_snapshot!(error("java-[grpc"), @"'java-[grpc' is not a pattern: unclosed character class; missing ']'; write a server's name, or a glob such as 'java-*' or 'java-grpc@*'");
}

#[test]
fn unknown_keys_are_refused_in_every_table() {
    insta::assert_snapshot!(server_refusal("lock =", "locks ="), @r#"servers/java/grpc/server.toml:4: locks = "gradle.lockfile": unknown key 'locks' (did you mean 'lock'?); allowed here: library, protocols, tls, no_tls, toolchain, lock, versions, build, runtime, run, variants, plain, representative, ready_timeout, stop_timeout"#);
    insta::assert_snapshot!(server_refusal("note = \"G1\"", "note = \"G1\"\narg = []"), @"servers/java/grpc/server.toml:21: arg = []: unknown key 'arg' (did you mean 'args'?); allowed here: note, representative, args, env, lock, build, runtime");
    insta::assert_snapshot!(server_refusal("[run]", "[run]\nport = 1"), @"servers/java/grpc/server.toml:10: port = 1: unknown key 'port'; allowed here: command, env");
    insta::assert_snapshot!(language_refusal("minimum", "minimun"), @r#"servers/java/_language.toml:9: minimun = "25": unknown key 'minimun' (did you mean 'minimum'?); allowed here: name, command, version, minimum, install, apt, end_of_support"#);
    insta::assert_snapshot!(refusal("servers/_defaults.toml", "library = \"x\""), @r#"servers/_defaults.toml:1: library = "x": unknown key 'library'; allowed here: ready_timeout, stop_timeout, runtime"#);
}

#[test]
fn wrong_types_are_reported() {
    insta::assert_snapshot!(server_refusal("[\"grpc\"]", "\"grpc\""), @r#"servers/java/grpc/server.toml:3: protocols = "grpc": invalid type: string "grpc", expected a list, such as protocols = ["grpc"]"#);
    insta::assert_snapshot!(server_refusal("args = [\"-XX:+UseZGC\"]", "args = [1]"), @r#"servers/java/grpc/server.toml:16: args = [1]: invalid type: integer 1, expected a string, such as args = ["-XX:+UseG1GC"]"#);
    insta::assert_snapshot!(server_refusal("SHARED = \"server\"", "SHARED = true"), @"servers/java/grpc/server.toml:12: SHARED = true: invalid type: boolean true, expected a string");
    insta::assert_snapshot!(language_refusal("ready_timeout = \"40s\"", "ready_timeout = 40"), @r#"servers/java/_language.toml:3: ready_timeout = 40: invalid type: integer 40, expected a string, such as ready_timeout = "30s""#);
    insta::assert_snapshot!(language_refusal("[[toolchain]]", "[toolchain]"), @"servers/java/_language.toml:5: [toolchain]: invalid type: table, expected a list, such as [[toolchain]]");
    insta::assert_snapshot!(refusal("servers/java/grpc/server.toml", "library = \n"), @"servers/java/grpc/server.toml:1: not valid TOML: string values must be quoted, expected literal string");
}

#[test]
fn unusable_values_are_reported() {
    insta::assert_snapshot!(language_refusal("\"40s\"", "\"40\""), @r#"servers/java/_language.toml:3: ready_timeout = "40": '40' is not a length of time; write a number and a unit, such as 500ms, 10s or 2m"#);
    insta::assert_snapshot!(server_refusal("[\"grpc\"]", "[\"http\"]"), @r#"servers/java/grpc/server.toml:3: protocols = ["http"]: unknown protocol 'http'; expected one of grpc, json, json-h2c, connect, thrift, thrift-compact, thrift-buffered, thrift-buffered-compact, tcp-echo"#);
    insta::assert_snapshot!(server_refusal("[\"grpc\"]", "[]"), @r#"servers/java/grpc/server.toml:3: protocols = []: name at least one, such as ["grpc"]"#);
    insta::assert_snapshot!(server_refusal("'io.grpc:grpc-netty:(\\S+)='", "'(\\S+'"), @r"servers/java/grpc/server.toml:7: grpc-java = '(\S+': not a regular expression: error: unclosed group");
    insta::assert_snapshot!(server_refusal("'io.grpc:grpc-netty:(\\S+)='", "'grpc'"), @r"servers/java/grpc/server.toml:7: grpc-java = 'grpc': it has no group; put the part to read in parentheses, such as 'go(\d+\.\d+)'");
    insta::assert_snapshot!(server_refusal("{build}/server.jar", "{target}/server.jar"), @r#"servers/java/grpc/server.toml:10: command = ["java", "{args}", "-jar", "{target}/server.jar"]: unknown placeholder {target}; expected {build}, {server}, {args}"#);
    insta::assert_snapshot!(server_refusal("\"{args}\", ", ""), @r#"servers/java/grpc/server.toml:10: command = ["java", "-jar", "{build}/server.jar"]: a variant has args; add "{args}" to the list"#);
    insta::assert_snapshot!(server_refusal("\"{args}\"", "\"-D{args}\""), @r#"servers/java/grpc/server.toml:10: command = ["java", "-D{args}", "-jar", "{build}/server.jar"]: '-D{args}': {args} must be an element by itself"#);
    insta::assert_snapshot!(server_refusal("[variants.g1]", "[variants.\"g1#2\"]"), @r#"servers/java/grpc/server.toml:19: [variants."g1#2"]: use lower-case letters, digits, '-', '_', '.' and '+', a letter or digit first"#);
    insta::assert_snapshot!(language_refusal("minimum = \"25\"", "minimum = \"25+\""), @r#"servers/java/_language.toml:9: minimum = "25+": write numbers and dots, such as 1.25"#);
    insta::assert_snapshot!(language_refusal("warmup_max = \"20s\"", "warmup_max = \"1s\""), @r#"servers/java/_language.toml:18: warmup_max = "1s": must not be below warmup_min"#);
    for outside in ["/etc/passwd", "../go.sum", "{build}/../../lock"] {
        let refused = server_refusal("lock = \"", &format!("lock = \"{outside}\"\n#"));
        assert_eq!(
            refused,
            format!(
                "servers/java/grpc/server.toml: lock = '{outside}' is outside of the server's folder; name a file in it, or '{{build}}/FILE'"
            )
        );
    }
    let long = refusal("servers/go/grpc/server.toml", &"#".repeat(2 << 20));
    insta::assert_snapshot!(long, @"servers/go/grpc/server.toml: can't be read: longer than 1 MiB");
}

#[test]
fn missing_key_is_reported_with_an_example() {
    insta::assert_snapshot!(server_refusal("library = \"grpc-java\"", ""), @r#"servers/java/grpc/server.toml:1: 'library' is missing; add a line such as library = "grpc-go""#);
    insta::assert_snapshot!(server_refusal("command = [\"java\", \"{args}\", \"-jar\", \"{build}/server.jar\"]", ""), @r#"servers/java/grpc/server.toml: 'run.command' is missing; add a line such as command = ["{build}/server"]"#);
    insta::assert_snapshot!(language_refusal("warmup_min = \"2s\"", ""), @r#"servers/java/_language.toml: 'runtime.warmup_min' is missing; add a line such as warmup_min = "2s""#);
    insta::assert_snapshot!(language_refusal("compiler_threads = [\"C2 CompilerThre\"]", ""), @r#"servers/java/_language.toml: 'runtime.compiler_threads' is missing; add a line such as compiler_threads = ["C2 CompilerThre"]"#);
    insta::assert_snapshot!(refusal("servers/_defaults.toml", ""), @r#"servers/_defaults.toml: 'stop_timeout' is missing; add a line such as stop_timeout = "5s""#);
    insta::assert_snapshot!(refusal("servers/cobol/grpc/server.toml", GO), @"servers/cobol/_language.toml: can't be read: No such file or directory (os error 2)");
    let empty = tempfile::tempdir().unwrap();
    write(empty.path(), "servers/_defaults.toml", "");
    let message = Catalog::load(empty.path()).unwrap_err().to_string();
    assert!(
        message.ends_with("a server is a folder <language>/<library> with a server.toml"),
        "{message}"
    );
}

#[test]
fn bad_manifest_does_not_affect_others() {
    let root = root();
    write(root.path(), "servers/java/bad/server.toml", "library = 5");
    write(root.path(), "servers/cobol/grpc/server.toml", GO);
    let names = |patterns: &[&str]| -> Result<Vec<String>, String> {
        let selected = load(&root).into_selected(&named(patterns));
        let names = |entries: Vec<_>| entries.iter().map(Entry::name).collect();
        selected.map(names).map_err(|error| error.to_string())
    };
    let broken: Vec<String> = load(&root).broken().iter().map(|it| it.name.clone()).collect();
    assert_eq!(broken, ["cobol-*", "java-bad"]);
    assert_eq!(names(&[]).unwrap(), ["go-grpc", "java-grpc@g1", "java-grpc@zgc"]);
    assert_eq!(names(&["java-*"]).unwrap(), ["java-grpc@g1", "java-grpc@zgc"]);
    assert!(
        names(&["java-bad"])
            .unwrap_err()
            .contains("server.toml:1: library = 5: invalid type: integer 5")
    );
    assert!(names(&["go-grpc", "cobol-grpc@x"]).unwrap_err().contains("_language.toml"));
}

#[test]
fn clients_have_manifests_and_folders_like_servers() {
    let root = root();
    let go = LANGUAGE.replace("Java", "Go");
    write(root.path(), "clients/go/_language.toml", &go);
    write(root.path(), "clients/go/grpc/client.toml", GO);
    write(root.path(), "clients/go/driver/driver.go", "");
    let catalog = Catalog::of(root.path(), Role::Client).unwrap();
    let selection = Selection::of(Role::Client, Vec::new());
    let [entry] = &catalog.select(&selection).unwrap()[..] else { panic!("one entry") };
    assert_eq!((entry.name(), entry.planned().role), ("go-grpc".to_owned(), Role::Client));
    assert!(entry.server.build_folder.ends_with("build/clients/go-grpc"));
    let limits = Limits { cpus: 1, memory_bytes: None };
    assert!(!entry.environment(&BTreeMap::new(), None, &limits).contains_key("RPCBENCH_PORT"));
    let none = catalog.select(&Selection::of(Role::Client, vec!["go-grcp".to_owned()]));
    insta::assert_snapshot!(none.unwrap_err(), @"no client matches 'go-grcp' (did you mean 'go-grpc'?); `rpcbench list clients` shows all");
    assert_eq!(load(&root).servers().len(), 2, "servers are found as before");
}

#[test]
fn folder_with_both_manifests_is_refused() {
    insta::assert_snapshot!(refusal("servers/go/grpc/client.toml", GO), @"servers/go/grpc: a folder has one role, and this one has a client.toml too; move that to clients/");
}
