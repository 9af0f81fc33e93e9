pub(super) const AMQP: u16 = 26685;
pub(super) const STREAM: u16 = 14493;
pub(super) const MQTT: u16 = 30972;
pub(super) const PASSWORD: &[u8] = b"f0fe1c69124ca90b41d136720365e76c";
