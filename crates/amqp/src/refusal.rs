//! The broker's refusals: reply code, text, and the next step for each.

use std::fmt;

use crate::{Refusal, protocol::reply_codes as code};

/// A refusal by the broker. Its text includes the next step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokerRefusal {
    /// Reply code of AMQP 0-9-1, such as 403.
    pub code: u16,
    /// The broker's text.
    pub text: String,
}

impl BrokerRefusal {
    /// Returns whether the user lacks a permission or may not log in: the program's exit code 6.
    pub fn is_permission(&self) -> bool {
        match self.code {
            code::ACCESS_REFUSED => {
                !ALWAYS_REFUSED.iter().any(|&(words, _)| self.text.contains(words))
            }
            code::NOT_ALLOWED => {
                let is_other =
                    ["is reached", "is down"].iter().any(|words| self.text.contains(words));
                self.text.contains("refused for user") && !is_other
            }
            _ => false,
        }
    }

    /// The next step.
    fn advice(&self) -> &'static str {
        let of_code = || ADVICE.iter().filter(|row| row.code == self.code);
        let fitting = of_code().find(|row| self.text.contains(row.words));
        fitting.map_or("the broker's log may say more", |row| row.next_step)
    }
}

impl From<Refusal> for BrokerRefusal {
    fn from(refusal: Refusal) -> Self {
        Self { code: refusal.code, text: refusal.text }
    }
}

impl fmt::Display for BrokerRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.text.trim_end_matches('.'), self.advice())
    }
}

/// The next step for a reply code and a part of the text.
struct Advice {
    code: u16,
    /// Part of the text; empty for any text.
    words: &'static str,
    next_step: &'static str,
}

const fn row(code: u16, words: &'static str, next_step: &'static str) -> Advice {
    Advice { code, words, next_step }
}

/// Refusals with code 403 that no permission can change.
const ALWAYS_REFUSED: [(&str, &str); 3] = [
    (
        "in exclusive use",
        "another consumer has exclusive use of the queue: stop it, or consume from another queue",
    ),
    ("reserved prefix", "the broker reserves names that start with `amq.`: choose another name"),
    ("default exchange", "the default exchange cannot be declared or bound: remove it"),
];

const REPORT: &str = "a client or a proxy broke the protocol: without a proxy, this is a defect of rabbitscope; \
                      please report it with the broker's log";

/// Next steps; the first matching row applies.
const ADVICE: &[Advice] = &[
    row(
        code::CONTENT_TOO_LARGE,
        "",
        "the message exceeds the broker's limit (`max_message_size`): publish smaller messages",
    ),
    row(code::NO_ROUTE, "", "no queue is bound for this routing key: bind one"),
    row(code::NO_CONSUMERS, "", "the queue has no consumer: start one"),
    row(
        code::CONNECTION_FORCED,
        "",
        "an administrator or the node's shutdown closed the connection: check that the node runs, and try again",
    ),
    row(
        code::INVALID_PATH,
        "",
        "check that the virtual host in the URI exists (`rabbitmqctl list_vhosts`)",
    ),
    row(code::ACCESS_REFUSED, ALWAYS_REFUSED[0].0, ALWAYS_REFUSED[0].1),
    row(code::ACCESS_REFUSED, ALWAYS_REFUSED[1].0, ALWAYS_REFUSED[1].1),
    row(code::ACCESS_REFUSED, ALWAYS_REFUSED[2].0, ALWAYS_REFUSED[2].1),
    row(
        code::ACCESS_REFUSED,
        "Login was refused",
        "check user and password (`guest` may connect from the broker's own machine only)",
    ),
    row(
        code::ACCESS_REFUSED,
        "",
        "the user lacks this permission: `rabbitmqctl list_user_permissions USER` lists permissions, `set_permissions \
         -p VHOST USER CONFIGURE WRITE READ` grants them",
    ),
    row(code::NOT_FOUND, "", "check its name and the virtual host, or declare it in the scenario"),
    row(
        code::RESOURCE_LOCKED,
        "",
        "another connection has it as exclusive: close that connection, or choose another name",
    ),
    row(
        code::PRECONDITION_FAILED,
        "inequivalent arg",
        "it already exists with another type, flags or arguments: change the scenario, or delete it",
    ),
    row(
        code::PRECONDITION_FAILED,
        "limit",
        "a limit of a policy, virtual host or user is reached: raise it, or declare less",
    ),
    row(
        code::PRECONDITION_FAILED,
        "delivery tag",
        "the broker does not know the acknowledged delivery, or waited too long for it (`consumer_timeout`)",
    ),
    row(
        code::PRECONDITION_FAILED,
        "",
        "check that this release of the broker supports its type, flags and arguments",
    ),
    row(code::FRAME_ERROR, "", REPORT),
    row(code::SYNTAX_ERROR, "", REPORT),
    row(code::COMMAND_INVALID, "", REPORT),
    row(code::CHANNEL_ERROR, "", REPORT),
    row(code::UNEXPECTED_FRAME, "", REPORT),
    row(
        code::RESOURCE_ERROR,
        "",
        "the broker lacks a resource (memory, disk, descriptors, a limit): its log and alarms name it",
    ),
    row(
        code::NOT_ALLOWED,
        "is reached",
        "the limit of connections or channels is reached: raise it (`rabbitmqctl list_vhost_limits`, `list_user_limits`), or open fewer",
    ),
    row(code::NOT_ALLOWED, "is down", "start it: `rabbitmqctl restart_vhost`"),
    row(
        code::NOT_ALLOWED,
        "refused for user",
        "grant it: `rabbitmqctl set_permissions -p VHOST USER '.*' '.*' '.*'`",
    ),
    row(
        code::NOT_ALLOWED,
        "not found",
        "check that the virtual host in the URI exists (`rabbitmqctl list_vhosts`), or add it (`add_vhost`)",
    ),
    row(
        code::NOT_ALLOWED,
        "",
        "the broker's configuration or this user's permissions forbid it; its log may say more",
    ),
    row(
        code::NOT_IMPLEMENTED,
        "",
        "this release of the broker or its plugins do not support this: remove it, or use another release",
    ),
    row(code::INTERNAL_ERROR, "", "the broker failed: its log has the reason"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(code: u16, text: &str) -> BrokerRefusal {
        BrokerRefusal { code, text: text.to_owned() }
    }

    /// Checks a refusal with a text of the broker.
    fn check(code: u16, text: &str, step: &str, is_permission: bool) {
        let refused = refused(code, text);
        let said = refused.to_string();
        assert!(said.starts_with(text.trim_end_matches('.')), "{said}");
        assert!(said[text.len() - 1..].contains(step), "{said}");
        assert_eq!(refused.is_permission(), is_permission, "{said}");
        let of_flags = said.contains("flags") && code != 406;
        assert!(!of_flags, "{said}");
    }

    #[test]
    fn refused_access_has_its_next_step() {
        let login = "ACCESS_REFUSED - Login was refused using authentication mechanism PLAIN. For details see the broker logfile.";
        check(403, login, "user and password", true);
        let queue = "ACCESS_REFUSED - access to queue 'q' in vhost '/' refused for user 'low'";
        check(403, queue, "set_permissions", true);
        check(
            403,
            "ACCESS_REFUSED - queue 'q' in vhost '/' in exclusive use",
            "another consumer",
            false,
        );
        check(
            403,
            "ACCESS_REFUSED - queue name 'amq.q' contains reserved prefix 'amq.*'",
            "another name",
            false,
        );
        check(
            403,
            "ACCESS_REFUSED - operation not permitted on the default exchange",
            "remove it",
            false,
        );
    }

    #[test]
    fn each_reply_code_has_its_next_step() {
        check(311, "CONTENT_TOO_LARGE - 9 > 5", "max_message_size", false);
        check(312, "NO_ROUTE", "bind", false);
        check(313, "NO_CONSUMERS", "start one", false);
        check(
            320,
            "CONNECTION_FORCED - broker forced connection closure",
            "check that the node runs",
            false,
        );
        check(402, "INVALID_PATH", "list_vhosts", false);
        check(404, "NOT_FOUND - no queue 'q' in vhost '/'", "its name", false);
        check(
            405,
            "RESOURCE_LOCKED - cannot obtain exclusive access to locked queue 'q'",
            "exclusive",
            false,
        );
        let other = "PRECONDITION_FAILED - inequivalent arg 'durable' for queue 'q' in vhost '/'";
        check(406, other, "another type, flags or arguments", false);
        check(
            406,
            "PRECONDITION_FAILED - invalid arg 'x-max-length' for queue 'q'",
            "arguments",
            false,
        );
        check(406, "PRECONDITION_FAILED - queue limit in vhost '/' (5) is reached", "limit", false);
        check(406, "PRECONDITION_FAILED - unknown delivery tag 7", "acknowledged", false);
        for code in 501..=505 {
            check(code, "of the protocol", "report", false);
        }
    }

    #[test]
    fn limits_and_failures_have_their_next_step() {
        check(506, "RESOURCE_ERROR", "alarms", false);
        check(
            530,
            "NOT_ALLOWED - access to vhost '/' refused for user 'none'",
            "set_permissions",
            true,
        );
        check(530, "NOT_ALLOWED - vhost nosuch not found", "list_vhosts", false);
        check(
            530,
            "NOT_ALLOWED - access to vhost '/' refused for user 'guest': connection limit (1) is reached",
            "raise it",
            false,
        );
        check(
            530,
            "NOT_ALLOWED - access to vhost 'v' refused for user 'guest': vhost 'v' is down",
            "restart_vhost",
            false,
        );
        check(530, "NOT_ALLOWED - attempt to reuse consumer tag 'x'", "log", false);
        check(540, "NOT_IMPLEMENTED - active=false", "release", false);
        check(541, "INTERNAL_ERROR", "log", false);
        check(999, "of no known code", "log", false);
    }
}
