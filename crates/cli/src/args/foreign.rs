//! Options of other load generators, answered with those of `rpcbench load`.

/// Names without dashes, and what to give instead.
const OPTIONS: [(&[&str], &str); 36] = [
    (
        &["concurrency", "vus", "u"],
        "-c is the number of connections, and -m that of calls in flight on each",
    ),
    (
        &["rps", "qps", "query-per-second", "R"],
        "give --rate (-r) for calls a second over all connections",
    ),
    (&["async"], "give --rate, which sends calls when they are due"),
    (
        &[
            "load-schedule",
            "load-start",
            "load-step",
            "load-end",
            "load-step-duration",
            "load-max-duration",
        ],
        "give --arrivals steps:FROM..TO+STEP/LENGTH or ramp:FROM..TO/LENGTH",
    ),
    (
        &[
            "concurrency-schedule",
            "concurrency-start",
            "concurrency-step",
            "concurrency-end",
            "concurrency-step-duration",
            "concurrency-max-duration",
        ],
        "a load changes by its rate: give --arrivals steps:FROM..TO+STEP/LENGTH",
    ),
    (&["total", "requests", "iterations"], "give --calls (-n)"),
    (
        &["max-duration", "duration-stop", "x"],
        "give --duration (-z); calls in flight at its end are awaited for --grace",
    ),
    (&["threads", "cpus", "workers"], "give --client-threads (-t)"),
    (
        &["p", "streams", "max-concurrent-streams", "parallel"],
        "give -m for the calls in flight on each connection",
    ),
    (&["plaintext"], "leave it out: TLS is on with --tls, https:// or grpcs:// only"),
    (
        &["skipTLS", "skip-tls", "no-verify", "insecure-skip-tls-verify"],
        "give --insecure-skip-verify (-k)",
    ),
    (&["cname", "sni", "server-name"], "give --servername NAME"),
    (&["metadata", "M", "headers"], "give -H 'name: value', once for each"),
    (&["metadata-file"], "give -H 'name: value', once for each"),
    (&["reflect-metadata"], "give --reflect-header 'name: value'"),
    (&["import-paths", "i"], "give -I DIR, once for each"),
    (
        &["binary", "binary-file", "b", "B"],
        "give -D FILE.bin, each message after its length in four bytes",
    ),
    (&["body"], "give --data (-d), @FILE for the content of a file"),
    (&["body-file", "Z"], "give -d @FILE, or -D FILE.jsonl for a request in each line"),
    (&["content-type", "T"], "give -H 'content-type: ...'"),
    (&["A"], "give -H 'accept: ...'"),
    (&["a", "auth", "basic-auth"], "give --user (-u) USER:PASSWORD"),
    (&["host"], "give --authority HOST"),
    (&["http2", "h2"], "give --http 2"),
    (&["http-version"], "give --http 1.1 or --http 2"),
    (&["http3", "h3"], "HTTP/3 is not supported; h2load can be built with it"),
    (&["disable-keepalive", "disable-keep-alive", "no-keepalive"], "give --connection-life short"),
    (
        &["redirect", "disable-redirects", "max-redirects"],
        "redirects are a status and are not followed; leave it out",
    ),
    (
        &["disable-compression"],
        "nothing is compressed unless --compress gzip, or -H 'accept-encoding: gzip' of a URL, asks for it; leave it out",
    ),
    (&["enable-compression", "e", "compressed"], "give --compress gzip"),
    (
        &["latency-correction", "latency", "L"],
        "response times always count from when a call was due; leave it out",
    ),
    (&["skipFirst", "skip-first"], "give --warmup LENGTH"),
    (&["no-tui", "no-progress", "silent"], "give --quiet (-q)"),
    (&["j", "json"], "give --format json"),
    (
        &["o", "O", "output", "output-format"],
        "results go to standard output; --format chooses how, and --out DIR writes a record",
    ),
    (&["script", "s"], "scripts are not supported; docs/migrating.md names a tool for them"),
];

/// What to give instead of another tool's option, if `arguments` of a load that can't be read have one.
pub fn hint(arguments: &[String]) -> Option<String> {
    let at = arguments.iter().position(|argument| argument == "load")?;
    let given = &arguments[at + 1..];
    let next = |index: usize| given.get(index + 1).map(String::as_str).unwrap_or_default();
    given.iter().enumerate().find_map(|(index, argument)| match argument.as_str() {
        "-q" if next(index).starts_with(|c: char| c.is_ascii_digit()) => {
            Some("-q: it prints no progress; give --rate (-r) for calls a second".to_owned())
        }
        "-t" if next(index).ends_with(['s', 'm']) => Some(
            "-t: it is the number of client threads; give --timeout for a call's limit, or --duration (-z)".to_owned(),
        ),
        argument => known(argument),
    })
}

fn known(argument: &str) -> Option<String> {
    let name = argument.strip_prefix("--").or_else(|| argument.strip_prefix('-'))?;
    let name = name.split('=').next().unwrap_or(name);
    let (_, instead) = OPTIONS.iter().find(|(names, _)| names.contains(&name))?;
    let dashes = &argument[..argument.len() - argument.trim_start_matches('-').len()];
    Some(format!("{dashes}{name}: {instead}"))
}
