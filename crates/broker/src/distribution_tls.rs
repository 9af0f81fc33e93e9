//! TLS options of a node's distribution, read from the arguments of its VM.

use std::{
    fs,
    path::PathBuf,
    process::{Command, Stdio},
};

use rabbitscope_erlang::TlsFiles;

use crate::{BrokerError, Installation};

/// The variable that passes the name of the option file to [`PROGRAM`].
const FILE: &str = "RABBITSCOPE_TLS_FILE";

/// Program for an `erl` without a distribution of its own. It prints the certificate and key of a file for
/// `-ssl_dist_optfile`, and prefers those of the client role.
const PROGRAM: &str = "{ok, [Options]} = file:consult(os:getenv(\"RABBITSCOPE_TLS_FILE\")), \
    Values = fun(Key) -> [Value || Role <- [client, server], {R, List} <- Options, R =:= Role, \
        {K, Value} <- List, K =:= Key] end, \
    [io:format(\"~ts~n\", [hd(Values(Key) ++ [\"\"])]) || Key <- [certfile, keyfile]], halt().";

/// Returns the arguments that make a distribution use TLS, or none when it does not use TLS.
pub(crate) fn arguments(erl_args: &str) -> Vec<String> {
    let mut wanted = Vec::new();
    let mut is_wanted = false;
    for word in erl_args.split_whitespace() {
        if word.starts_with('-') {
            is_wanted = word == "-proto_dist" || word.starts_with("-ssl_dist_opt");
        }
        if is_wanted {
            wanted.push(word.trim_matches(['"', '\'']).to_owned());
        }
    }
    if wanted.iter().any(|word| word == "inet_tls" || word == "inet6_tls") {
        wanted
    } else {
        Vec::new()
    }
}

/// Returns the files for a connection to a node with these arguments. Its socket identifies the node, so no authority
/// is needed.
pub(crate) fn files(
    arguments: &[String],
    installation: &Installation,
) -> Result<Option<TlsFiles>, BrokerError> {
    if arguments.is_empty() {
        return Ok(None);
    }
    let own = match after(arguments, "-ssl_dist_optfile") {
        Some(file) => consulted(file, installation)?,
        None => option(arguments, "certfile").zip(option(arguments, "keyfile")),
    };
    Ok(Some(TlsFiles { authorities: None, own }))
}

fn after<'a>(words: &'a [String], wanted: &str) -> Option<&'a str> {
    let index = words.iter().position(|word| word == wanted)?;
    words.get(index + 1).map(String::as_str)
}

/// Returns an option of `-ssl_dist_opt`, preferring the client's to the server's.
fn option(arguments: &[String], name: &str) -> Option<PathBuf> {
    let value = |role: &str| after(arguments, &format!("{role}_{name}"));
    value("client").or_else(|| value("server")).map(PathBuf::from)
}

fn consulted(
    file: &str,
    installation: &Installation,
) -> Result<Option<(PathBuf, PathBuf)>, BrokerError> {
    let file = fs::canonicalize(file).map_err(BrokerError::io("find", file))?;
    let program = &installation.erl;
    let output = Command::new(program)
        .args(["-noinput", "-boot", "no_dot_erlang", "-eval", PROGRAM])
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("LANG", "C.UTF-8")
        .env("ERL_CRASH_DUMP_SECONDS", "0")
        .env(FILE, &file)
        .stdin(Stdio::null())
        .output()
        .map_err(BrokerError::io("start", program))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut paths = text.lines().map(PathBuf::from);
    let pair = paths.next().zip(paths.next());
    Ok(pair.filter(|(certificate, key)| certificate.is_file() && key.is_file()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_for_tls() {
        fn check(erl_args: &str, expected: &str) {
            assert_eq!(arguments(erl_args).join(" "), expected, "{erl_args}");
        }
        let tls = "-proto_dist inet_tls -ssl_dist_optfile /etc/tls.config";
        check(tls, tls);
        check(&format!("+S 2 {tls} -kernel net_ticktime 9"), tls);
        check(
            "-ssl_dist_opt server_certfile a.pem -proto_dist inet_tls",
            "-ssl_dist_opt server_certfile a.pem -proto_dist inet_tls",
        );
        check("-proto_dist inet_tcp", "");
        check("", "");
    }

    #[test]
    fn the_role_of_a_client_comes_first() {
        let words = arguments(
            "-proto_dist inet_tls -ssl_dist_opt server_certfile a client_certfile b server_keyfile c",
        );
        assert_eq!(option(&words, "certfile"), Some("b".into()));
        assert_eq!(option(&words, "keyfile"), Some("c".into()));
        assert_eq!(option(&words, "cacertfile"), None);
    }
}
