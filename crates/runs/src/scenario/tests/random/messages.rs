//! Random bodies and properties.

use std::time::Duration;

use super::{super::super::*, Random};

impl Random {
    /// Fills in random bodies, packing and properties.
    pub(super) fn content(&mut self, group: PublisherGroup) -> PublisherGroup {
        let lasts = Duration::from_secs(2);
        let size_bytes = self.number(1 << 20);
        let steps = vec![SizeStep { size_bytes, lasts }, SizeStep { size_bytes: 0, lasts }];
        let sizes = self.some(steps);
        let shares =
            vec![SizeShare { size_bytes, share: 0.7 }, SizeShare { size_bytes: 0, share: 1.5 }];
        let size_shares = self.some(shares).filter(|_| sizes.is_none());
        let filled = PublisherGroup {
            size: (sizes.is_none() && size_shares.is_none()).then_some(size_bytes),
            sizes,
            size_shares,
            body: Some(BodyKind::Filler),
            ..group
        };
        let group = match self.below(3) {
            0 => {
                let files = Some(vec!["a.bin".to_owned(), "b \"".to_owned()]);
                PublisherGroup {
                    size: None,
                    sizes: None,
                    size_shares: None,
                    body: None,
                    body_files: files,
                    ..filled
                }
            }
            1 => PublisherGroup {
                body: Some(BodyKind::Json),
                json_bodies: Some(self.number(1000)),
                json_fields: self.some(77),
                ..filled
            },
            _ => filled,
        };
        let algorithm = Algorithm::ALL[self.below(3)];
        let (first, last, _) = algorithm.levels();
        let level = first + self.number(last - first + 1) - 1;
        let can_pack = group.size_shares.is_none();
        let compression = self.some(algorithm).filter(|_| can_pack && group.body() != Body::Filler);
        let mut properties = self.properties();
        if compression.is_some() {
            properties.content_encoding = None;
        }
        let items_per_message = Some(1 + self.number(500)).filter(|_| can_pack && self.chance());
        let can_mix = items_per_message.is_none()
            && compression.is_none()
            && matches!(group.body(), Body::Filler)
            && group.protocol == Protocol::Amqp091;
        PublisherGroup {
            property_shares: can_mix.then(|| self.property_shares()).flatten(),
            items_per_message,
            compression,
            compression_level: compression.map(|_| level),
            persistent: properties.delivery_mode.is_none().then(|| self.chance()),
            properties,
            ..group
        }
    }

    fn property_shares(&mut self) -> Option<Vec<PropertyShare>> {
        let shares = vec![
            PropertyShare { share: 0.2, properties: MessageProperties::default() },
            PropertyShare { share: 1.0, properties: self.properties() },
        ];
        self.some(shares)
    }

    pub(super) fn properties(&mut self) -> MessageProperties {
        let delivery_mode = [None, Some(1), Some(2)][self.below(3)];
        let mut text = |text: &str| self.some(text.to_owned());
        MessageProperties {
            content_type: text("a/b"),
            content_encoding: text("gzip"),
            correlation_id: text("c"),
            reply_to: text("r"),
            message_id: text("m"),
            kind: text("k"),
            user_id: text("u"),
            app_id: text("app"),
            cluster_id: text("cl"),
            subject: None,
            group_id: None,
            delivery_mode,
            priority: self.some(7),
            expiration: self.some(Duration::from_millis(1500)),
            timestamp: self.some(77),
            headers: self.arguments(),
        }
    }
}
