//! The driver of `planted_drv.c`, compiled and loaded into a node.

use std::{
    fs,
    path::{Path, PathBuf},
};

use rabbitscope_broker::Broker;
use rabbitscope_testing::compile_driver;

use crate::bench::{load, own_node};

const LIBRARY: &str = "planted_drv.so";

/// A separate node with `burn` and a port of the driver.
pub(crate) struct Planted {
    pub(crate) broker: Broker,
    /// The port as an Erlang expression.
    port: String,
    /// Directory of the driver, whose functions are named from its file. It is removed with the broker.
    directory: PathBuf,
}

impl Planted {
    pub(crate) fn start() -> Self {
        let broker = own_node().take();
        load(&broker, "burn");
        let directory = broker.directory.join("driver");
        fs::create_dir(&directory).unwrap();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/planted_drv.c");
        compile_driver(&source, &directory.join(LIBRARY), &["-O2"]);
        let opened =
            broker.eval(&format!("port_to_list(burn:planted_port(\"{}\")).", directory.display()));
        let port = format!("list_to_port({})", opened.unwrap().trim());
        Self { broker, port, directory }
    }

    /// Calls a function of `burn` with the port and these arguments.
    pub(crate) fn call(&self, function: &str, arguments: &[u128]) {
        let numbers = arguments.iter().map(u128::to_string);
        let all: Vec<String> = [self.port.clone()].into_iter().chain(numbers).collect();
        self.broker.eval(&format!("burn:{function}({}).", all.join(", "))).unwrap();
    }

    /// Deletes the file of the driver, which continues to run.
    pub(crate) fn delete_library(&self) {
        fs::remove_file(self.directory.join(LIBRARY)).unwrap();
    }
}
