//! A window on its way from the recorder to its destinations.

use std::sync::Arc;

use rabbitscope_export::NodeLabels;
use rabbitscope_probe::NodeWindow;

/// A window and the labels of its node.
pub(super) struct LabelledWindow {
    pub(super) labels: Arc<NodeLabels>,
    pub(super) window: NodeWindow,
}
