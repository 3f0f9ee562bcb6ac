/**
 * Node's `http` as it is, and not by an import: an import evaluates all that it exports, `WebSocket` among it, which loads the whole
 * of Node's fetch. Nothing of ours uses that while it serves, and it takes some 60 ms of CPU time.
 */
export const { createServer, request, Agent } = process.getBuiltinModule("node:http");
