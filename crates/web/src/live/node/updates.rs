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
