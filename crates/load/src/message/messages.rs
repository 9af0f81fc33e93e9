//! The messages of a group of publishers: routing keys, bodies and properties, prepared once for all members.

use std::sync::{Arc, Mutex, OnceLock};

use rabbitscope_amqp::{Connection, Content, Properties, PublishTarget, PublishTemplate, Route};
use rabbitscope_amqp10::Parts;
use rabbitscope_mqtt::Topic;
use rabbitscope_protocol::Encoded;
use rabbitscope_runs::{
    Draws, Random,
    scenario::{Protocol, PublisherGroup, RoutingKeys, STAMP_HEADER, Scenario, assigned_queues},
};
use rabbitscope_streams as streams;
use rabbitscope_timing::{Nanos, RunInstant, STAMP_SIZE};

use super::{
    amqp091::PackedPayload,
    amqp091_properties::all_properties,
    bodies::bodies,
    body_files::BodyFiles,
    mqtt,
    payload::{Choice, ComposedPayload, EncodedBodies, MemberRoutes, Payload, Step},
};
use crate::{error::LoadError, packing::Packer};

/// A group's messages, before the limits of a connection are known.
#[derive(Debug)]
pub(crate) struct Messages<'a> {
    pub(super) group: &'a PublisherGroup,
    /// Properties with their shares of the messages.
    properties: Vec<(f64, Properties)>,
    keys: Arc<[Route]>,
    /// The keys as texts: only the first one with AMQP 0-9-1 and MQTT.
    pub(super) names: Vec<String>,
    /// Streams of a super stream, and the place among them of each key's messages; empty without one.
    pub(super) partitions: Vec<String>,
    pub(super) places: Arc<[u8]>,
    /// The keys as topics of MQTT; empty without it.
    pub(super) topics: Arc<[Topic]>,
    /// True if members divide the keys among themselves. Otherwise each member uses all keys.
    is_spread: bool,
    pub(super) steps: Arc<[Step<Vec<u8>>]>,
    random: Random,
    /// Encoded bodies for a frame size, which is nearly always the same for all connections.
    contents: Mutex<Option<(u32, Arc<EncodedBodies<Content>>)>>,
    /// Encoded bodies of AMQP 1.0.
    pub(super) parts: OnceLock<Arc<EncodedBodies<Parts>>>,
}

impl<'a> Messages<'a> {
    pub(crate) fn new(
        group: &'a PublisherGroup,
        scenario: &Scenario,
        files: &BodyFiles<'_>,
    ) -> Result<Self, LoadError> {
        let mut random = Random::new(scenario.seed.number()).fork(&group.name);
        let mut keys = keys(group, scenario, &mut random);
        let routes = keys.iter().map(|key| Route::new(group.exchange(), key, group.mandatory));
        let routes = routes.collect();
        let topics = match group.protocol {
            Protocol::Mqtt => keys.iter().map(|key| mqtt::topic(group, key)).collect(),
            Protocol::Amqp091 | Protocol::Amqp10 | Protocol::Stream => [].into(),
        };
        let is_by_streams = group.protocol == Protocol::Stream;
        let partitions = if is_by_streams { scenario.partitions(group.exchange()) } else { None };
        let partitions = partitions.unwrap_or_default();
        let places = places(&keys, &partitions).into();
        if matches!(group.protocol, Protocol::Amqp091 | Protocol::Mqtt) {
            keys.truncate(1);
        }
        Ok(Self {
            group,
            properties: all_properties(group),
            is_spread: !matches!(group.keys(), RoutingKeys::Listed(_) | RoutingKeys::Random(_)),
            keys: routes,
            names: keys,
            partitions,
            places,
            topics,
            steps: bodies(group, files, &mut random)?.into(),
            random,
            contents: Mutex::new(None),
            parts: OnceLock::new(),
        })
    }

    /// Returns the earliest time of the first message of `member`.
    pub(crate) fn start(&self, member: u32) -> RunInstant {
        let longest = Nanos::from(self.group.random_start_delay);
        let random = self.random.fork(&member.to_string()).below(longest.get());
        RunInstant::START + self.group.start_delay.into() + Nanos::new(random)
    }

    /// Returns the seed for the schedule of `member`.
    pub(crate) fn seed(&self, member: u32) -> u64 {
        self.random.schedule_seed(member)
    }

    /// Returns the payload of `member` on `channel`, in frames of at most `frame_max` bytes.
    pub(crate) fn payload(&self, member: u32, channel: u16, frame_max: u32) -> Payload<Connection> {
        if self.group.is_packed() {
            return Payload::Packed(Box::new(self.packed(member, frame_max)));
        }
        let group = self.group;
        if let [(_, properties)] = &self.properties[..]
            && self.keys.len() == 1
            && group.has_one_body()
        {
            let target = PublishTarget {
                channel,
                exchange: group.exchange(),
                routing_key: self.names.first().map_or("", String::as_str),
                mandatory: group.mandatory,
                properties,
            };
            let size = group.size_bytes() as usize;
            return Payload::Plain(PublishTemplate::new(&target, size, frame_max));
        }
        let contents = self.contents(frame_max);
        Payload::Composed(Box::new(ComposedPayload {
            routes: self.routes(member),
            wire_size: self.route_size() + contents.largest,
            contents,
            choice: self.bodies_of(member),
        }))
    }

    /// Returns the bytes of the largest body.
    pub(super) fn largest_body(&self) -> usize {
        let bodies = self.steps.iter().flat_map(|(_, bodies)| bodies);
        bodies.map(Vec::len).max().unwrap_or(0)
    }

    fn packed(&self, member: u32, frame_max: u32) -> PackedPayload {
        let mut packer = Packer::new(self.group.packing());
        let properties = self.properties.first().map(|(_, properties)| properties.clone());
        let properties = properties.unwrap_or_default();
        let head = Content::with_header(&properties, &[], frame_max, STAMP_HEADER, STAMP_SIZE);
        let bodies = self.steps.iter().map(|(_, items)| packer.pack(items, &mut 0).0.len());
        let largest = bodies.max().unwrap_or(0);
        PackedPayload {
            routes: self.routes(member),
            wire_size: self.route_size() + head.wire_size() + largest,
            head,
            items: Arc::clone(&self.steps),
            next_item: 0,
            packer,
        }
    }

    /// Returns the routes of a member.
    pub(super) fn routes(&self, member: u32) -> MemberRoutes<Route> {
        let choice = self.keys_of(member);
        MemberRoutes { routes: Arc::clone(&self.keys), mine: self.mine(member), choice }
    }

    /// Returns the choice of keys of a member. With shares, each member has all keys.
    pub(super) fn keys_of(&self, member: u32) -> Choice {
        let shares = self.group.shares_of_keys(self.mine(member).len());
        Choice::new(shares.map(|shares| Draws::new(self.random_of("keys", member), &shares)))
    }

    /// Returns the choice of bodies of a member, each with each of the properties.
    pub(super) fn bodies_of(&self, member: u32) -> Choice {
        let group = self.group;
        if group.size_shares.is_none() && group.property_shares.is_none() {
            return Choice::default();
        }
        let bodies = self.steps.first().map_or(1, |(_, bodies)| bodies.len());
        let sizes: Vec<f64> = group
            .size_shares
            .as_ref()
            .map_or_else(|| vec![1.0], |shares| shares.iter().map(|share| share.share).collect());
        // The bodies of a size have equal shares.
        let of_size = bodies / sizes.len();
        let bodies = sizes.iter().flat_map(|share| std::iter::repeat_n(*share, of_size));
        let properties = || self.properties.iter().map(|(share, _)| *share);
        let shares: Vec<f64> =
            bodies.flat_map(|body| properties().map(move |share| body * share)).collect();
        Choice::new(Some(Draws::new(self.random_of("sizes", member), &shares)))
    }

    fn random_of(&self, purpose: &str, member: u32) -> Random {
        self.random.fork(&format!("{purpose} {member}"))
    }

    /// Returns the indices of the keys that a member uses.
    pub(super) fn mine(&self, member: u32) -> Vec<u32> {
        let count = u32::try_from(self.keys.len()).unwrap_or(u32::MAX);
        let group = self.group;
        if self.is_spread {
            let mine = assigned_queues(group.member_queues, member, group.count, self.keys.len());
            mine.filter_map(|key| u32::try_from(key).ok()).collect()
        } else {
            (0..count).collect()
        }
    }

    fn route_size(&self) -> usize {
        self.keys.iter().map(Route::wire_size).max().unwrap_or(0)
    }

    fn contents(&self, frame_max: u32) -> Arc<EncodedBodies<Content>> {
        let mut made = self.contents.lock().expect("making contents does not panic");
        match &*made {
            Some((size, contents)) if *size == frame_max => Arc::clone(contents),
            _ => {
                let contents = Arc::new(self.make_contents(frame_max));
                *made = Some((frame_max, Arc::clone(&contents)));
                contents
            }
        }
    }

    fn make_contents(&self, frame_max: u32) -> EncodedBodies<Content> {
        let content = |body: &[u8], properties: &Properties| {
            if self.group.has_stamp_headers() {
                Content::with_header(properties, body, frame_max, STAMP_HEADER, STAMP_SIZE)
            } else {
                Content::new(properties, body, frame_max)
            }
        };
        let of_body = |body: &Vec<u8>| -> Vec<Content> {
            self.properties.iter().map(|(_, properties)| content(body, properties)).collect()
        };
        let steps = self.steps.iter().map(|(end, bodies)| (*end, bodies.iter().flat_map(of_body)));
        EncodedBodies::new(steps.map(|(end, contents)| (end, contents.collect())).collect())
    }
}

/// Routing keys of a group; with the default exchange, the names of queues.
fn keys(group: &PublisherGroup, scenario: &Scenario, random: &mut Random) -> Vec<String> {
    match group.keys() {
        RoutingKeys::QueueNames => scenario.queue_names(group.routing_key()),
        RoutingKeys::Fixed => vec![group.routing_key().to_owned()],
        RoutingKeys::Numbered(range) => range.names(group.routing_key()).collect(),
        RoutingKeys::Listed(keys) => keys.to_vec(),
        RoutingKeys::Random(count) => (0..count).map(|_| random.hex(32)).collect(),
    }
}

/// Returns the place among the partitions of each key's messages.
fn places(keys: &[String], partitions: &[String]) -> Vec<u8> {
    let Ok(count @ 1..) = u32::try_from(partitions.len()) else { return Vec::new() };
    let place = |key: &String| u8::try_from(streams::partition(key, count)).unwrap_or(u8::MAX);
    keys.iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::scenario;

    use super::*;

    fn group(keys: &str) -> Scenario {
        let text = format!(
            "name = \"m\"\nrun.duration = \"1s\"\nqueues = [{{ name = \"q-{{}}\", to = 5 }}]\n\
             [[publishers]]\n{keys}"
        );
        scenario::parse(&text, "test", &[]).unwrap()
    }

    #[test]
    fn members_share_queues_and_have_all_listed_keys() {
        fn check(keys: &str, member: u32, expected: &[u32]) {
            let scenario = group(keys);
            let messages =
                Messages::new(&scenario.publishers[0], &scenario, &BodyFiles::anywhere()).unwrap();
            let Payload::Composed(composed) = messages.payload(member, 1, 4096) else {
                panic!("there are many keys")
            };
            assert_eq!(composed.routes.mine, expected);
        }
        check("queue = \"q-{}\"", 0, &[0, 1, 2, 3, 4]);
        check("queue = \"q-{}\"\ncount = 2", 1, &[1, 3]);
        check("queue = \"q-{}\"\ncount = 8", 6, &[1]);
        check("exchange = \"amq.topic\"\nrouting-keys = [\"a\", \"b\"]\ncount = 2", 1, &[0, 1]);
        check("exchange = \"amq.topic\"\nrandom-routing-keys = 3", 0, &[0, 1, 2]);
    }

    #[test]
    fn sizes_follow_the_time() {
        let sizes = "queue = \"q-1\"\nsizes = [{ size = \"1B\", for = \"2s\" }, \
                     { size = \"9B\", for = \"1s\" }]";
        let scenario = group(sizes);
        let messages =
            Messages::new(&scenario.publishers[0], &scenario, &BodyFiles::anywhere()).unwrap();
        let contents = messages.contents(4096);
        let small = contents.at(RunInstant::START)[0].wire_size();
        for (second, larger) in [(1, 0), (2, 8), (3, 0), (5, 8), (602, 8)] {
            let size = contents.at(RunInstant::of_second(second))[0].wire_size();
            assert_eq!(size, small + larger, "{second}");
        }
    }

    #[test]
    fn sizes_and_queues_have_their_shares_and_a_message_keeps_its_own() {
        let scenario = group(
            "queue = \"q-{}\"\nkey-shares = [8, 4]\nkey-exponent = 1\n\
             size-shares = [{ size = \"1B\", share = 0.9 }, { size = \"9B\", share = 0.1 }]",
        );
        let messages =
            Messages::new(&scenario.publishers[0], &scenario, &BodyFiles::anywhere()).unwrap();
        let payload = |member| match messages.payload(member, 1, 4096) {
            Payload::Composed(composed) => composed,
            _ => panic!("messages differ"),
        };
        let mut first = payload(0);
        let mut cursor = first.cursor(RunInstant::START);
        let mut drawn = Vec::new();
        for _ in 0..10_000 {
            let (route, body) = cursor.next();
            drawn.push((route.wire_size(), body.body_size(), format!("{route:?}")));
        }
        let small = drawn.iter().filter(|(_, size, _)| *size == 1).count();
        assert!((8_880..9_120).contains(&small), "{small}");
        // 8, 4, then 4 times 2/3, 2/4, 2/5.
        let total = 8.0 + 4.0 + 4.0 * (2.0 / 3.0 + 2.0 / 4.0 + 2.0 / 5.0);
        for (queue, share) in [(1, 8.0), (2, 4.0), (5, 1.6)] {
            let key = format!("{:?}", Route::new("", &format!("q-{queue}"), false));
            let count = drawn.iter().filter(|(_, _, route)| *route == key).count() as f64;
            let expected = 10_000.0 * share / total;
            assert!((count - expected).abs() < 4.0 * expected.sqrt(), "{queue}: {count}");
        }
        cursor.seek(77);
        let (route, body) = cursor.next();
        assert_eq!((body.body_size(), format!("{route:?}")), (drawn[77].1, drawn[77].2.clone()));
    }

    #[test]
    fn properties_have_their_shares_beside_those_of_sizes() {
        let scenario = group(
            "queue = \"q-1\"\npersistent = true\nproperties.app-id = \"a\"\n\
             size-shares = [{ size = \"12B\", share = 0.5 }, { size = \"20B\", share = 0.5 }]\n\
             property-shares = [{ share = 3 }, \
             { share = 1, properties = { priority = 7, delivery-mode = 1 } }]",
        );
        let messages =
            Messages::new(&scenario.publishers[0], &scenario, &BodyFiles::anywhere()).unwrap();
        let Payload::Composed(mut composed) = messages.payload(0, 1, 4096) else {
            panic!("messages differ")
        };
        let mut counts = std::collections::BTreeMap::new();
        let mut cursor = composed.cursor(RunInstant::START);
        for _ in 0..8_000 {
            let (_, content) = cursor.next();
            *counts.entry((content.body_size(), content.wire_size())).or_insert(0) += 1;
        }
        // A priority has one byte. All have a delivery mode and an application.
        let [plain, higher, large, large_higher] = counts.into_iter().collect::<Vec<_>>()[..]
        else {
            panic!("two sizes, each with and without a priority")
        };
        assert_eq!((higher.0.1, large_higher.0.1), (plain.0.1 + 1, large.0.1 + 1));
        for (count, expected) in
            [(plain.1, 3_000), (higher.1, 1_000), (large.1, 3_000), (large_higher.1, 1_000)]
        {
            assert!((expected - 150..expected + 150).contains(&count), "{count} of {expected}");
        }
    }

    #[test]
    fn what_is_always_the_same_takes_the_short_way() {
        let scenario = group("queue = \"q-1\"\nproperties.priority = 5");
        let messages =
            Messages::new(&scenario.publishers[0], &scenario, &BodyFiles::anywhere()).unwrap();
        assert!(matches!(messages.payload(0, 1, 4096), Payload::Plain(_)));
    }
}
