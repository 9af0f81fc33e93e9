//! Random bodies and properties.

use std::time::Duration;

use super::{super::super::*, Random};

impl Random {
    pub(super) fn content(&mut self) -> (u32, Vec<SizeStep>, Body) {
        let size_bytes = self.number(1 << 20);
        let lasts = Duration::from_secs(2);
        let steps = vec![SizeStep { size_bytes, lasts }, SizeStep { size_bytes: 0, lasts }];
        let sizes = self.some(steps).unwrap_or_default();
        match self.below(3) {
            0 => (12, Vec::new(), Body::Files(vec!["a.bin".to_owned(), "b \"".to_owned()])),
            1 => (
                size_bytes,
                sizes,
                Body::Json { documents: self.number(1000), fields: self.some(77) },
            ),
            _ => (size_bytes, sizes, Body::Filler),
        }
    }

    pub(super) fn packing(&mut self, body: &Body) -> Packing {
        let algorithm = Algorithm::ALL[self.below(3)];
        let (first, last, _) = algorithm.levels();
        let level = first + self.number(last - first + 1) - 1;
        let compression = self.some(Compression { algorithm, level });
        Packing {
            items: if self.chance() { 1 } else { self.number(500) },
            compression: compression.filter(|_| *body != Body::Filler),
        }
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
            delivery_mode,
            priority: self.some(7),
            expiration: self.some(Duration::from_millis(1500)),
            timestamp: self.some(77),
            headers: self.arguments(),
        }
    }
}
