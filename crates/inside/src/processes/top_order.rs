//! The order of the rows of `top`: by a figure on the node, or by a different column among the first rows.

use std::cmp::{Ordering, Reverse};

use super::top::{TopKind, TopRow, TopSortKey};

impl TopSortKey {
    /// Returns the figure by which the node selects the rows.
    pub(super) fn figure(self) -> Self {
        if self.is_text() || self == Self::Prefetch { Self::Cpu } else { self }
    }

    /// Returns whether the column is a text. Another column then selects the rows.
    pub(super) fn is_text(self) -> bool {
        use TopSortKey::{Client, Name, Node, NowIn, Pid, Role, User, Vhost};
        matches!(self, Name | Node | NowIn | Pid | Role | Vhost | User | Client)
    }

    /// Returns the order of selected rows. Rows are equal if the node's figure decides their order.
    pub(super) fn order(self, left: &TopRow, right: &TopRow) -> Ordering {
        // A prefetch count of 0 means no limit.
        let prefetch = |row: &TopRow| Reverse(row.prefetch.map(|count| count.wrapping_sub(1)));
        match self {
            Self::Prefetch => prefetch(left).cmp(&prefetch(right)),
            _ => self.texts(left).cmp(&self.texts(right)),
        }
    }

    /// Returns the text that decides the order; absent if a figure decides it. Rows without a text come last.
    fn texts(self, row: &TopRow) -> Option<(bool, &str, &str)> {
        let text = match self {
            Self::Name | Self::Node => row.name.as_str(),
            Self::Pid => row.pid.as_str(),
            Self::Role => row.role.as_deref().unwrap_or_default(),
            Self::Vhost => row.vhost.as_deref().unwrap_or_default(),
            Self::User => row.user.as_deref().unwrap_or_default(),
            Self::Client => row.client.as_deref().unwrap_or_default(),
            Self::NowIn => row.current_function.as_deref().unwrap_or_default(),
            _ => return None,
        };
        Some((text.is_empty(), text, &row.name))
    }

    /// Returns whether the table has such a column.
    pub fn is_of(self, kind: TopKind) -> bool {
        use TopSortKey::{
            Client, In, NowIn, Out, Pid, Prefetch, Ready, Role, Unacked, User, Vhost,
        };
        match self {
            In | Out | Vhost => kind != TopKind::Processes,
            Pid | Role | NowIn => kind == TopKind::Processes,
            Ready => kind == TopKind::Queues,
            Unacked => matches!(kind, TopKind::Queues | TopKind::Channels),
            User | Client => matches!(kind, TopKind::Connections | TopKind::Channels),
            Prefetch => kind == TopKind::Channels,
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;
    use rabbitscope_text::Align;

    use super::*;

    #[test]
    fn every_heading_is_a_word_for_an_order() {
        for kind in TopKind::value_variants() {
            for (heading, align) in kind.columns() {
                let key = TopSortKey::from_str(heading, false);
                let key = key.unwrap_or_else(|_| panic!("{heading} of {kind:?}"));
                assert!(key.is_of(*kind), "{heading} of {kind:?}");
                assert_eq!(key.is_text(), align == Align::Left, "{heading} of {kind:?}");
            }
        }
        assert_eq!(TopSortKey::from_str("node", false), Ok(TopSortKey::Node));
    }

    #[test]
    fn the_node_knows_figures_only() {
        for key in TopSortKey::value_variants() {
            let figure = key.figure();
            assert!(!figure.is_text() && figure != TopSortKey::Prefetch, "{key:?}");
        }
    }
}
