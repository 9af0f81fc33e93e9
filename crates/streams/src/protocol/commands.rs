//! Keys of the commands.

/// Bit of a key that marks an answer.
pub const ANSWER: u16 = 0x8000;

/// Version of all commands here, as long as a message has no filter value.
pub const VERSION: u16 = 1;

/// Version of `Publish` whose messages have filter values.
pub const FILTER_VERSION: u16 = 2;

/// `DeclarePublisher`
pub const DECLARE_PUBLISHER: u16 = 0x01;
/// `Publish`
pub const PUBLISH: u16 = 0x02;
/// `PublishConfirm`
pub const PUBLISH_CONFIRM: u16 = 0x03;
/// `PublishError`
pub const PUBLISH_ERROR: u16 = 0x04;
/// `Subscribe`
pub const SUBSCRIBE: u16 = 0x07;
/// `Deliver`
pub const DELIVER: u16 = 0x08;
/// `Credit`
pub const CREDIT: u16 = 0x09;
/// `StoreOffset`
pub const STORE_OFFSET: u16 = 0x0a;
/// `QueryOffset`
pub const QUERY_OFFSET: u16 = 0x0b;
/// `Unsubscribe`
pub const UNSUBSCRIBE: u16 = 0x0c;
/// `Metadata`
pub const METADATA: u16 = 0x0f;
/// `MetadataUpdate`
pub const METADATA_UPDATE: u16 = 0x10;
/// `PeerProperties`
pub const PEER_PROPERTIES: u16 = 0x11;
/// `SaslHandshake`
pub const SASL_HANDSHAKE: u16 = 0x12;
/// `SaslAuthenticate`
pub const SASL_AUTHENTICATE: u16 = 0x13;
/// `Tune`
pub const TUNE: u16 = 0x14;
/// `Open`
pub const OPEN: u16 = 0x15;
/// `Close`
pub const CLOSE: u16 = 0x16;
/// `Heartbeat`
pub const HEARTBEAT: u16 = 0x17;
/// `ConsumerUpdate`
pub const CONSUMER_UPDATE: u16 = 0x1a;
/// `ExchangeCommandVersions`
pub const EXCHANGE_COMMAND_VERSIONS: u16 = 0x1b;
