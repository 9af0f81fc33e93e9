//! Codes with which the broker closes a connection or a channel, or returns a message:
//! <https://www.rabbitmq.com/amqp-0-9-1-reference#constants>

macro_rules! reply_codes {
    ($($name:ident = $code:literal;)*) => {
        $(#[doc = concat!("`", stringify!($name), "`")] pub const $name: u16 = $code;)*
    };
}

reply_codes! {
    REPLY_SUCCESS = 200;
    CONTENT_TOO_LARGE = 311;
    NO_ROUTE = 312;
    NO_CONSUMERS = 313;
    CONNECTION_FORCED = 320;
    INVALID_PATH = 402;
    ACCESS_REFUSED = 403;
    NOT_FOUND = 404;
    RESOURCE_LOCKED = 405;
    PRECONDITION_FAILED = 406;
    FRAME_ERROR = 501;
    SYNTAX_ERROR = 502;
    COMMAND_INVALID = 503;
    CHANNEL_ERROR = 504;
    UNEXPECTED_FRAME = 505;
    RESOURCE_ERROR = 506;
    NOT_ALLOWED = 530;
    NOT_IMPLEMENTED = 540;
    INTERNAL_ERROR = 541;
}
