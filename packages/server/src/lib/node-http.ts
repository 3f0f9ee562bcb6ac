/**
 * Node's `http` without an import statement: an import evaluates all exports, and `WebSocket` among them loads Node's
 * whole fetch, some 60 ms of CPU time that a serving process does not need.
 */
export const { createServer, request, Agent } = process.getBuiltinModule("node:http");
