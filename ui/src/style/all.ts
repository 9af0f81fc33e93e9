// The style sheets of all pages.

import "./page.css";
import "./header.css";
import "./run.css";
import "./limit.css";
import "./profile.css";
import "./tables.css";
import "./owners.css";
import "./frames.css";
import "./packets.css";
import "./charts.css";
import "./blocks.css";
import "./fields.css";
import "./live.css";
