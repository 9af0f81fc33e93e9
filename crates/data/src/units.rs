//! Times and sizes as people write them: `30s`, `250ms`, `12B`, `2MiB`.
