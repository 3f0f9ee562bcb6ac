// One after the other, in one worker: each of these files keeps two cores busy, and two at once would slow each other
// down.
import "./no-stickiness.ts";
import "./instances.ts";
import "./postgres.ts";
import "./valkey.ts";
import "./rolling.ts";
