// The script of a live page. It alone asks a server: reports are without it.

import "./style/all.ts";

import { LivePage } from "./live/page.ts";
import { follow } from "./live/stream.ts";
import { start } from "./start.ts";

start((page, data) => follow(new LivePage(page, data)));
