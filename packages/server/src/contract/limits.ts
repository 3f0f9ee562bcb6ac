/** The limits that we publish and test. They stand in the OpenAPI document and in docs/operations.md. */
export const limits = {
  bodyBytes: 16 * 1024,
  headerBytes: 16 * 1024,
  urlBytes: 8 * 1024,
  jsonDepth: 8,
  accessTokenSeconds: 3600,
  pageSize: 100,
  pageOffset: 10_000,
  nameLength: 255,
  rateLimit: 1_000_000,
  graceSeconds: 30 * 86_400,
} as const;
