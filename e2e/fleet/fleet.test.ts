// Runs in one worker, file after file: each of these files keeps two cores busy, so two at once would slow each other
// down.
import "./no-stickiness.ts";
import "./instances.ts";
import "./postgres.ts";
import "./valkey.ts";
import "./rolling.ts";
