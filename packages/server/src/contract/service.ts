import { z } from "zod";
import { operation } from "./operation.ts";

export const live = operation({
  id: "live",
  tag: "Service",
  method: "GET",
  path: "/health/live",
  summary: "The process lives",
  access: "public",
  success: { status: 200, description: "It does", schema: z.strictObject({ status: z.literal("live") }) },
});

export const ready = operation({
  id: "ready",
  tag: "Service",
  method: "GET",
  path: "/health/ready",
  summary: "The instance can serve",
  access: "public",
  success: { status: 200, description: "It can", schema: z.strictObject({ status: z.literal("ready") }) },
  problems: ["not_ready"],
});

export const metrics = operation({
  id: "metrics",
  tag: "Service",
  method: "GET",
  path: "/metrics",
  summary: "Figures for Prometheus",
  access: "public",
  success: { status: 200, description: "Prometheus text", schema: z.string(), mediaType: "text/plain" },
});

export const openapi = operation({
  id: "openapi",
  tag: "Service",
  method: "GET",
  path: "/openapi.json",
  summary: "This document",
  access: "public",
  success: { status: 200, description: "OpenAPI 3.1", schema: z.looseObject({ openapi: z.string() }) },
});
