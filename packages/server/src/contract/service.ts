import { z } from "zod";
import { operation } from "./operation.ts";

/** Without a limit, because balancers and monitors ask all the time. */
const forMonitors = { tag: "Service", method: "GET", access: "public", unlimited: true } as const;

export const live = operation({
  id: "live",
  ...forMonitors,
  path: "/health/live",
  summary: "The process lives",
  description: "For whoever restarts processes that hang. It asks nothing of the database.",
  success: { status: 200, description: "It does", schema: z.strictObject({ status: z.literal("live") }) },
});

export const ready = operation({
  id: "ready",
  ...forMonitors,
  path: "/health/ready",
  summary: "The instance can serve",
  description: "For balancers: 503, with the reason, while this instance should be sent no requests.",
  success: {
    status: 200,
    description: "It can",
    schema: z.strictObject({
      status: z.literal("ready"),
      identity_providers: z
        .strictObject({ down: z.int(), degraded: z.int() })
        .describe("How many are not well, as this instance sees them; never a reason not to be ready"),
      degraded: z
        .array(z.string())
        .optional()
        .describe(
          "What does not hold in full just now, in words for an operator; absent when everything does",
        ),
    }),
  },
  problems: ["not_ready"],
});

export const metrics = operation({
  id: "metrics",
  ...forMonitors,
  path: "/metrics",
  summary: "Figures for Prometheus",
  description: "docs/watch.md says what each figure means.",
  success: { status: 200, description: "Prometheus text", schema: z.string(), mediaType: "text/plain" },
});

export const openapi = operation({
  id: "openapi",
  tag: "Service",
  method: "GET",
  path: "/openapi.json",
  summary: "This document",
  description: "What this service takes and answers, as `/docs` shows it.",
  access: "public",
  success: { status: 200, description: "OpenAPI 3.1", schema: z.looseObject({ openapi: z.string() }) },
});
