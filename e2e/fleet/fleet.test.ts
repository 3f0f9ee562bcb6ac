// One after the other, in one worker: each of them keeps two cores busy, and two at once would only test each other.
import "./no-stickiness.ts";
import "./instances.ts";
import "./postgres.ts";
import "./valkey.ts";
import "./rolling.ts";
