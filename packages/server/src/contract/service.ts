import { z } from "zod";
import { operation } from "./operation.ts";

/** Without a limit, because balancers and monitors ask all the time. */
const forMonitors = { tag: "Service", method: "GET", access: "public", unlimited: true } as const;

export const live = operation({
  id: "live",
  ...forMonitors,
  path: "/health/live",
  summary: "Check that the process is alive",
  description: "For a supervisor that restarts hanging processes. Does not query the database.",
  success: {
    status: 200,
    description: "The process answers",
    schema: z.strictObject({ status: z.literal("live") }),
  },
});

export const ready = operation({
  id: "ready",
  ...forMonitors,
  path: "/health/ready",
  summary: "Check that the instance can serve requests",
  description: "For balancers: 503, with the reason, while this instance should get no requests.",
  success: {
    status: 200,
    description: "The instance can serve requests",
    schema: z.strictObject({
      status: z.literal("ready"),
      identity_providers: z
        .strictObject({ down: z.int(), degraded: z.int() })
        .describe("How many are down or degraded, as this instance sees them; the instance is ready even so"),
      degraded: z
        .array(z.string())
        .optional()
        .describe("What works only in part now, in words for an operator; absent if everything works"),
    }),
  },
  problems: ["not_ready"],
});

export const metrics = operation({
  id: "metrics",
  ...forMonitors,
  path: "/metrics",
  summary: "Figures for Prometheus",
  description: "docs/watch.md explains each figure.",
  success: { status: 200, description: "Prometheus text", schema: z.string(), mediaType: "text/plain" },
});

export const openapi = operation({
  id: "openapi",
  tag: "Service",
  method: "GET",
  path: "/openapi.json",
  summary: "This document",
  description: "All operations of this service, as `/docs` shows them.",
  access: "public",
  success: { status: 200, description: "OpenAPI 3.1", schema: z.looseObject({ openapi: z.string() }) },
});
