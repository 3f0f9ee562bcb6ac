import { variables } from "../../config.ts";

const described = variables.map(
  ({ name, meaning, default: value }) => `  ${name}\n      ${meaning}\n      default: ${value}`,
);

export const serveNotes = `Each of --workers has its own connections to the database. Configuration comes from the environment:

${described.join("\n")}`;
