//! The broker's plugin, built.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use rabbitscope_broker::ROOT_VARIABLE;
use rabbitscope_testing::{Workbench, repository};

/// Builds the plugin below a directory of the bench and returns the archive. The build uses the Erlang and the
/// RabbitMQ of the tests' brokers, because a VM may refuse code that another release has compiled.
pub(crate) fn built_plugin(bench: &Workbench) -> PathBuf {
    let source = repository("plugin/rabbitmq_queue_info");
    let out = bench.path("plugins");
    let Some(root) = env::var_os(ROOT_VARIABLE) else {
        let archive = ran(Command::new(source.join("build.sh")).arg(&out));
        return PathBuf::from(archive.trim());
    };
    let copy = tempfile::tempdir_in(Path::new(&root).join("tmp")).unwrap();
    ran(Command::new("cp").arg("-r").arg(&source).arg(copy.path()));
    let copy_in_root = Path::new("/").join(copy.path().strip_prefix(&root).unwrap());
    let archive = ran(Command::new("chroot")
        .arg(&root)
        .arg(copy_in_root.join("rabbitmq_queue_info/build.sh"))
        .arg(copy_in_root.join("out")));
    ran(Command::new("cp").arg("-r").arg(copy.path().join("out")).arg(&out));
    out.join(Path::new(archive.trim()).file_name().unwrap())
}

/// Runs a command that must succeed, and returns its output.
fn ran(command: &mut Command) -> String {
    let ended = command.output().unwrap();
    assert!(ended.status.success(), "{command:?}: {ended:?}");
    String::from_utf8(ended.stdout).unwrap()
}
