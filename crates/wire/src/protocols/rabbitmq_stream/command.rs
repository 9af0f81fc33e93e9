//! Commands by their keys.

pub(super) const DECLARE_PUBLISHER: u16 = 1;
pub(super) const PUBLISH: u16 = 2;
pub(super) const PUBLISH_CONFIRM: u16 = 3;
pub(super) const PUBLISH_ERROR: u16 = 4;
pub(super) const DELETE_PUBLISHER: u16 = 6;
pub(super) const SUBSCRIBE: u16 = 7;
pub(super) const DELIVER: u16 = 8;
pub(super) const CREDIT: u16 = 9;
pub(super) const STORE_OFFSET: u16 = 10;
pub(super) const UNSUBSCRIBE: u16 = 12;
pub(super) const CREATE: u16 = 13;
pub(super) const METADATA: u16 = 15;
pub(super) const METADATA_UPDATE: u16 = 16;
pub(super) const PEER_PROPERTIES: u16 = 17;
pub(super) const SASL_AUTHENTICATE: u16 = 19;
pub(super) const TUNE: u16 = 20;
pub(super) const OPEN: u16 = 21;
pub(super) const CLOSE: u16 = 22;
pub(super) const HEARTBEAT: u16 = 23;
pub(super) const CREATE_SUPER_STREAM: u16 = 29;

/// Names by key, from 1, of the command and of its answer.
const NAMES: [(&str, &str); 31] = [
    ("declare-publisher", "declare-publisher-response"),
    ("publish", "publish-response"),
    ("publish-confirm", "publish-confirm-response"),
    ("publish-error", "publish-error-response"),
    ("query-publisher-sequence", "query-publisher-sequence-response"),
    ("delete-publisher", "delete-publisher-response"),
    ("subscribe", "subscribe-response"),
    ("deliver", "deliver-response"),
    ("credit", "credit-response"),
    ("store-offset", "store-offset-response"),
    ("query-offset", "query-offset-response"),
    ("unsubscribe", "unsubscribe-response"),
    ("create", "create-response"),
    ("delete", "delete-response"),
    ("metadata", "metadata-response"),
    ("metadata-update", "metadata-update-response"),
    ("peer-properties", "peer-properties-response"),
    ("sasl-handshake", "sasl-handshake-response"),
    ("sasl-authenticate", "sasl-authenticate-response"),
    ("tune", "tune-response"),
    ("open", "open-response"),
    ("close", "close-response"),
    ("heartbeat", "heartbeat-response"),
    ("route", "route-response"),
    ("partitions", "partitions-response"),
    ("consumer-update", "consumer-update-response"),
    ("exchange-command-versions", "exchange-command-versions-response"),
    ("stream-stats", "stream-stats-response"),
    ("create-super-stream", "create-super-stream-response"),
    ("delete-super-stream", "delete-super-stream-response"),
    ("resolve-offset-spec", "resolve-offset-spec-response"),
];

pub(super) fn name(key: u16, is_response: bool) -> Option<&'static str> {
    let at = usize::from(key).checked_sub(1)?;
    NAMES.get(at).map(|(command, response)| if is_response { *response } else { *command })
}

/// Returns whether the arguments of a command without a map are kept.
pub(super) const fn has_arguments(key: u16) -> bool {
    matches!(key, DECLARE_PUBLISHER | DELETE_PUBLISHER | CREDIT | STORE_OFFSET | UNSUBSCRIBE | OPEN)
}

/// Returns whether a number after the version links command and answer.
pub(super) const fn has_correlation(key: u16) -> bool {
    !matches!(
        key,
        PUBLISH
            | PUBLISH_CONFIRM
            | PUBLISH_ERROR
            | DELIVER
            | CREDIT
            | STORE_OFFSET
            | METADATA_UPDATE
            | TUNE
            | HEARTBEAT
    )
}
