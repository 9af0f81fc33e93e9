//! The order of the rows of `top`: by a figure on the node, or of the first rows by a text.

use super::top::{TopKind, TopRow, TopSortKey};

impl TopSortKey {
    /// The figure by which the node selects the rows.
    pub(super) fn figure(self) -> Self {
        if self.is_text() { Self::Cpu } else { self }
    }

    /// Rows in the order of a text are selected by another column.
    pub(super) fn is_text(self) -> bool {
        use TopSortKey::{Name, Node, NowIn, Pid, Role, Vhost};
        matches!(self, Name | Node | NowIn | Pid | Role | Vhost)
    }

    /// What decides the order of selected rows; nothing where the order is that of a figure. Rows without a text
    /// come last.
    pub(super) fn texts<'a>(self, row: &'a TopRow) -> Option<(bool, &'a str, &'a str)> {
        let text = match self {
            Self::Name | Self::Node => row.name.as_str(),
            Self::Pid => row.pid.as_str(),
            Self::Role => row.role.as_deref().unwrap_or_default(),
            Self::Vhost => row.vhost.as_deref().unwrap_or_default(),
            Self::NowIn => row.current_function.as_deref().unwrap_or_default(),
            _ => return None,
        };
        Some((text.is_empty(), text, &row.name))
    }

    /// Whether the table has such a column.
    pub fn is_of(self, kind: TopKind) -> bool {
        use TopSortKey::{In, NowIn, Out, Pid, Role, Vhost};
        match self {
            In | Out | Vhost => kind != TopKind::Processes,
            Pid | Role | NowIn => kind == TopKind::Processes,
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
            assert!(!key.figure().is_text(), "{key:?}");
        }
    }
}
