//! What is said about manifests that are wrong.

use rpcbench_harness::manifest::Catalog;

use super::{GO, language_refusal, refusal, server_refusal, write};

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
fn folder_with_both_manifests_is_refused() {
    insta::assert_snapshot!(refusal("servers/go/grpc/client.toml", GO), @"servers/go/grpc: a folder has one role, and this one has a client.toml too; move that to clients/");
}
