//! The expected node at the other end of a connection. Reading its sockets may require capabilities.

use rabbitscope_erlang::ExpectedNode;

/// Returns the node with this process, or any node that may know the cookie. `cookie_is_chosen`: the user named the
/// cookie file.
pub fn expected_node(pid: Option<u32>, cookie_is_chosen: bool) -> ExpectedNode {
    let holds = |pid: u32, inode: u64| {
        rabbitscope_probe::holds_socket(pid, &[inode]).map_err(|error| error.to_string())
    };
    ExpectedNode { pid, cookie_is_chosen, holds }
}
