//! Methods: number, name and fields, in one line each.

/// Class and number of a method.
pub type MethodId = (u16, u16);

/// A field of a method's arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// A number of one octet.
    Octet,
    /// A number of two octets.
    Short,
    /// A number of four octets.
    Long,
    /// A number of eight octets.
    LongLong,
    /// A string of at most 255 octets, after its length of one octet.
    ShortString,
    /// A string after its length of four octets.
    LongString,
    /// A table of named values, after its length of four octets.
    Table,
    /// Up to eight flags in one octet.
    Flags,
    /// Flags of which this one says that the sender wants no answer.
    FlagsWithNoWait(u8),
}

/// A method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Method {
    /// Class and number.
    pub id: MethodId,
    /// `class.method`
    pub name: &'static str,
    /// Its arguments, in order.
    pub fields: &'static [Field],
    /// True if one of the fields is a table.
    pub has_table: bool,
}

impl Method {
    const fn new(id: MethodId, name: &'static str, fields: &'static [Field]) -> Self {
        let (mut has_table, mut at) = (false, 0);
        while at < fields.len() {
            has_table |= matches!(fields[at], Field::Table);
            at += 1;
        }
        Self { id, name, fields, has_table }
    }
}

/// Class `connection`.
pub const CONNECTION: u16 = 10;
/// Class `basic`, of messages. Content headers have it, too.
pub const BASIC: u16 = 60;

macro_rules! methods {
    ($($constant:ident = $class:literal, $number:literal, $name:literal, [$($field:ident$(($bit:literal))?),*];)*) => {
        $(#[doc = concat!("`", $name, "`")] pub const $constant: MethodId = ($class, $number);)*

        impl Method {
            /// All methods, by their numbers.
            pub const ALL: &[Self] = &[
                $(Self::new($constant, $name, &[$(Field::$field$(($bit))?),*]),)*
            ];

            /// Returns the method with this number.
            #[inline]
            pub const fn find(id: MethodId) -> Option<&'static Self> {
                Some(match id {
                    $($constant => const { &Self::new($constant, $name, &[$(Field::$field$(($bit))?),*]) },)*
                    _ => return None,
                })
            }
        }
    };
}

methods! {
    CONNECTION_START = 10, 10, "connection.start", [Octet, Octet, Table, LongString, LongString];
    CONNECTION_START_OK = 10, 11, "connection.start-ok", [Table, ShortString, LongString, ShortString];
    CONNECTION_SECURE = 10, 20, "connection.secure", [LongString];
    CONNECTION_SECURE_OK = 10, 21, "connection.secure-ok", [LongString];
    CONNECTION_TUNE = 10, 30, "connection.tune", [Short, Long, Short];
    CONNECTION_TUNE_OK = 10, 31, "connection.tune-ok", [Short, Long, Short];
    CONNECTION_OPEN = 10, 40, "connection.open", [ShortString, ShortString, Flags];
    CONNECTION_OPEN_OK = 10, 41, "connection.open-ok", [ShortString];
    CONNECTION_CLOSE = 10, 50, "connection.close", [Short, ShortString, Short, Short];
    CONNECTION_CLOSE_OK = 10, 51, "connection.close-ok", [];
    CONNECTION_BLOCKED = 10, 60, "connection.blocked", [ShortString];
    CONNECTION_UNBLOCKED = 10, 61, "connection.unblocked", [];
    CONNECTION_UPDATE_SECRET = 10, 70, "connection.update-secret", [LongString, ShortString];
    CONNECTION_UPDATE_SECRET_OK = 10, 71, "connection.update-secret-ok", [];
    CHANNEL_OPEN = 20, 10, "channel.open", [ShortString];
    CHANNEL_OPEN_OK = 20, 11, "channel.open-ok", [LongString];
    CHANNEL_FLOW = 20, 20, "channel.flow", [Flags];
    CHANNEL_FLOW_OK = 20, 21, "channel.flow-ok", [Flags];
    CHANNEL_CLOSE = 20, 40, "channel.close", [Short, ShortString, Short, Short];
    CHANNEL_CLOSE_OK = 20, 41, "channel.close-ok", [];
    // Methods of AMQP 0-8, which old clients still send.
    ACCESS_REQUEST = 30, 10, "access.request", [ShortString, Flags];
    ACCESS_REQUEST_OK = 30, 11, "access.request-ok", [Short];
    EXCHANGE_DECLARE = 40, 10, "exchange.declare", [Short, ShortString, ShortString, FlagsWithNoWait(4), Table];
    EXCHANGE_DECLARE_OK = 40, 11, "exchange.declare-ok", [];
    EXCHANGE_DELETE = 40, 20, "exchange.delete", [Short, ShortString, FlagsWithNoWait(1)];
    EXCHANGE_DELETE_OK = 40, 21, "exchange.delete-ok", [];
    EXCHANGE_BIND = 40, 30, "exchange.bind", [Short, ShortString, ShortString, ShortString, FlagsWithNoWait(0), Table];
    EXCHANGE_BIND_OK = 40, 31, "exchange.bind-ok", [];
    EXCHANGE_UNBIND = 40, 40, "exchange.unbind", [Short, ShortString, ShortString, ShortString, FlagsWithNoWait(0), Table];
    EXCHANGE_UNBIND_OK = 40, 51, "exchange.unbind-ok", [];
    QUEUE_DECLARE = 50, 10, "queue.declare", [Short, ShortString, FlagsWithNoWait(4), Table];
    QUEUE_DECLARE_OK = 50, 11, "queue.declare-ok", [ShortString, Long, Long];
    QUEUE_BIND = 50, 20, "queue.bind", [Short, ShortString, ShortString, ShortString, FlagsWithNoWait(0), Table];
    QUEUE_BIND_OK = 50, 21, "queue.bind-ok", [];
    QUEUE_PURGE = 50, 30, "queue.purge", [Short, ShortString, FlagsWithNoWait(0)];
    QUEUE_PURGE_OK = 50, 31, "queue.purge-ok", [Long];
    QUEUE_DELETE = 50, 40, "queue.delete", [Short, ShortString, FlagsWithNoWait(2)];
    QUEUE_DELETE_OK = 50, 41, "queue.delete-ok", [Long];
    QUEUE_UNBIND = 50, 50, "queue.unbind", [Short, ShortString, ShortString, ShortString, Table];
    QUEUE_UNBIND_OK = 50, 51, "queue.unbind-ok", [];
    BASIC_QOS = 60, 10, "basic.qos", [Long, Short, Flags];
    BASIC_QOS_OK = 60, 11, "basic.qos-ok", [];
    BASIC_CONSUME = 60, 20, "basic.consume", [Short, ShortString, ShortString, FlagsWithNoWait(3), Table];
    BASIC_CONSUME_OK = 60, 21, "basic.consume-ok", [ShortString];
    BASIC_CANCEL = 60, 30, "basic.cancel", [ShortString, FlagsWithNoWait(0)];
    BASIC_CANCEL_OK = 60, 31, "basic.cancel-ok", [ShortString];
    BASIC_PUBLISH = 60, 40, "basic.publish", [Short, ShortString, ShortString, Flags];
    BASIC_RETURN = 60, 50, "basic.return", [Short, ShortString, ShortString, ShortString];
    BASIC_DELIVER = 60, 60, "basic.deliver", [ShortString, LongLong, Flags, ShortString, ShortString];
    BASIC_GET = 60, 70, "basic.get", [Short, ShortString, Flags];
    BASIC_GET_OK = 60, 71, "basic.get-ok", [LongLong, Flags, ShortString, ShortString, Long];
    BASIC_GET_EMPTY = 60, 72, "basic.get-empty", [ShortString];
    BASIC_ACK = 60, 80, "basic.ack", [LongLong, Flags];
    BASIC_REJECT = 60, 90, "basic.reject", [LongLong, Flags];
    BASIC_RECOVER_ASYNC = 60, 100, "basic.recover-async", [Flags];
    BASIC_RECOVER = 60, 110, "basic.recover", [Flags];
    BASIC_RECOVER_OK = 60, 111, "basic.recover-ok", [];
    BASIC_NACK = 60, 120, "basic.nack", [LongLong, Flags];
    CONFIRM_SELECT = 85, 10, "confirm.select", [FlagsWithNoWait(0)];
    CONFIRM_SELECT_OK = 85, 11, "confirm.select-ok", [];
    TX_SELECT = 90, 10, "tx.select", [];
    TX_SELECT_OK = 90, 11, "tx.select-ok", [];
    TX_COMMIT = 90, 20, "tx.commit", [];
    TX_COMMIT_OK = 90, 21, "tx.commit-ok", [];
    TX_ROLLBACK = 90, 30, "tx.rollback", [];
    TX_ROLLBACK_OK = 90, 31, "tx.rollback-ok", [];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_is_found_by_its_number() {
        assert!(Method::ALL.is_sorted_by(|one, next| one.id < next.id));
        for method in Method::ALL {
            assert_eq!(Method::find(method.id), Some(method));
        }
        assert_eq!(Method::find((60, 81)), None);
    }
}
