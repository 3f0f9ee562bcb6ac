import pg from "pg";

/** Every bigint here is a time in milliseconds or a count, below 2^53: a number, as SQLite returns it. */
export const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: "text" | "binary") =>
    oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format as "text"),
};
