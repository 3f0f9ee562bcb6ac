import { ApiError } from "@latchkey/sdk/admin";
import { expect, test } from "vitest";
import { explainDownload, type FileOptions, readFile, sizeInWords } from "./file.ts";

const never = new AbortController().signal;

test("a file has the name that the service gives it, else that of the screen", async () => {
  async function* named({ onName }: FileOptions) {
    onName("customers-2026-11-19.csv");
    yield "id,name\r\n";
    yield "1,Ada\r\n";
  }
  const sizes: number[] = [];
  expect(await readFile(named, "customers.csv", never, (size) => sizes.push(size))).toEqual({
    name: "customers-2026-11-19.csv",
    pieces: ["id,name\r\n", "1,Ada\r\n"],
  });
  expect(sizes).toEqual([9, 16]);
  async function* unnamed() {
    yield "id\r\n";
  }
  expect((await readFile(unnamed, "customers.csv", never, () => {})).name).toBe("customers.csv");
});

test("a file that breaks off is not saved", async () => {
  async function* broken() {
    yield "id,name\r\n";
    throw new ApiError("network_failed", "The stream broke off.");
  }
  await expect(readFile(broken, "customers.csv", never, () => {})).rejects.toThrow("broke off");
});

const exceeded = (meta: Record<string, unknown>) =>
  new ApiError("exports_exceeded", "Too many.", {
    status: 429,
    errors: [
      { status: "429", code: "exports_exceeded", title: "", detail: "", id: "", meta, links: { about: "" } },
    ],
  });

test("a refusal says when to try again, and a broken file that nothing was saved", () => {
  expect(explainDownload(exceeded({ bucket: "hour", retry_after_seconds: 720 }))).toMatch(/in 12 min\.$/);
  expect(explainDownload(exceeded({ bucket: "at_once" }))).toMatch(/two exports under way/);
  expect(explainDownload(new ApiError("network_failed", ""))).toMatch(/was not saved/);
  expect(explainDownload(new ApiError("internal_error", ""))).toBeUndefined();
  expect(explainDownload(new Error("x"))).toBeUndefined();
});

test("a size is short", () => {
  expect([0, 1, 999_999, 3_400_000].map(sizeInWords)).toEqual(["0 kB", "1 kB", "1000 kB", "3.4 MB"]);
});
