//! The changes that a second makes to the page.

use super::{
    charts::{CHARTS, values},
    second::NodeSecond,
    tiles::tiles,
};
use crate::{
    document::{Hue, Mark},
    live::tick::Tick,
};

impl NodeSecond {
    /// Replaces the tiles, and adds a value to every line of the charts.
    pub fn write(&self, tick: &mut Tick) {
        tick.replace(tiles(self));
        let x = self.at_nanos as f64;
        for (chart, values) in values(self).into_iter().enumerate() {
            for (number, value) in values.into_iter().enumerate() {
                let mark = Mark::line("", Hue::SOFT, [x], vec![value]);
                tick.append(CHARTS, (chart, number), &mark, 0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rabbitscope_diagnosis::{Case, Subject};
    use serde_json::Value;

    use super::*;
    use crate::live::node::{NodeHead, NodeLook, NodeState};

    fn ids(blocks: &Value) -> Vec<String> {
        let id = |block: &Value| block["id"].as_str().unwrap().to_owned();
        blocks.as_array().unwrap().iter().map(id).collect()
    }

    #[test]
    fn the_head_has_the_place_of_every_change() {
        let head = NodeHead { node: "a@b".to_owned(), facts: Vec::new(), has_profile: true };
        let head: Value = serde_json::from_str(&head.live_head().to_json()).unwrap();
        let blocks: Vec<Value> = head["sections"]
            .as_array()
            .unwrap()
            .iter()
            .map(|section| section["blocks"].clone())
            .collect();
        let places: Vec<String> = blocks.iter().flat_map(ids).collect();
        let distinct: BTreeSet<&String> = places.iter().collect();
        assert_eq!(distinct.len(), places.len(), "{places:?}");

        let mut tick = Tick::new(7);
        NodeSecond { at_nanos: 5, cpu_cores: Some(0.5), ..NodeSecond::default() }.write(&mut tick);
        NodeState::default().write(&mut tick);
        NodeLook::from_case(Case::unread(Subject::default())).write(&mut tick);
        let tick: Value = serde_json::from_str(&tick.to_json()).unwrap();
        let replaced: BTreeSet<String> = ids(&tick["replace"]).into_iter().collect();
        let unchanged = ["stacks", CHARTS].map(str::to_owned);
        assert_eq!(replaced.union(&unchanged.into()).count(), places.len());
        assert!(replaced.iter().all(|id| places.contains(id)), "{replaced:?}");

        let mut all = blocks.iter().flat_map(|blocks| blocks.as_array().unwrap());
        let charts = all.find(|block| block["id"] == CHARTS).unwrap();
        for added in tick["append"].as_array().unwrap() {
            let index = |key: &str| usize::try_from(added[key].as_u64().unwrap()).unwrap();
            let mark = &charts["charts"][index("chart")]["marks"][index("mark")];
            assert_eq!((&mark["kind"], &added["columns"]["x"][0]), (&"line".into(), &5.0.into()));
        }
    }
}
