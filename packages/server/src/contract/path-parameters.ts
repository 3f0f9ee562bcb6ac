import type { Operation } from "./operation.ts";

/** The parameters in an operation's path, for the OpenAPI document: ids, and the credential of a page. */
export const pathParameters = ({ ids, credential }: Operation): object[] => [
  ...Object.keys(ids ?? {}).map((name) => inPath(name, { type: "string", format: "uuid" })),
  ...(credential
    ? [inPath("token", { type: "string", pattern: `^${credential.prefix}_[0-9A-Za-z]+$` })]
    : []),
];

const inPath = (name: string, schema: object) => ({ name, in: "path", required: true, schema });
