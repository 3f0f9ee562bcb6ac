import { execFile, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { operations } from "../../packages/server/src/contract/operations.ts";
import { problems } from "../../packages/server/src/contract/problems.ts";
import { signOnReasons } from "../../packages/server/src/contract/sign-on-reasons.ts";
import { postgresEngine } from "../../packages/server/test/support/engines.ts";
import { type Exposed, readExposition } from "../../packages/server/test/support/exposition.ts";
import { freePort } from "../../packages/server/test/support/postgres-server.ts";
import { findProgram } from "../../packages/server/test/support/programs.ts";
import { createStore, getToken, newPlace, type Place, type Running, serve } from "../support/running.ts";
import { faultsOf, groupingsOf, selectorsOf } from "./promql.ts";

/** Alerts, dashboard and the table of metrics, against what a running service shows. */

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const RULES = "deploy/prometheus/latchkey.rules.yml";

const VALKEY = findProgram("valkey");
const hasFleet = VALKEY !== undefined && postgresEngine.isHere;
/** Without a fleet, the metrics of a fleet cannot be checked. */
const isOfFleet = (text: string) => /latchkey_(database|valkey|instances|workers)/.test(text);

let place: Place;
let running: Running;
let exposed: Exposed;

beforeAll(async () => {
  place = await newPlace();
  running = await serve(place);
  const token = await getToken(place.url, await createStore(place));
  const headers = { authorization: `Bearer ${token}` };
  for (const path of ["/v2/store", "/v2/application-keys", "/v2/nothing", "/docs"])
    await fetch(`${place.url}${path}`, { headers });
  const texts = [await (await fetch(`${place.url}/metrics`)).text(), await fleetMetrics()];
  exposed = readExposition(texts.join("\n"));
});
afterAll(async () => {
  running.child.kill("SIGTERM");
  expect(await running.exited).toBe(0);
  place.leave();
});

/** Metrics that only an instance of a fleet exposes, where PostgreSQL and a server of Valkey's protocol are found. */
async function fleetMetrics(): Promise<string> {
  if (!hasFleet) return "";
  const port = await freePort();
  const flags = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
  const valkey = spawn(VALKEY as string, flags, { stdio: "ignore" });
  const database = await postgresEngine.create();
  const own = await newPlace(database.url);
  own.env.LATCHKEY_VALKEY_URL = `redis://127.0.0.1:${port}`;
  const service = await serve(own, ["serve", "--workers", "2"]);
  const token = await getToken(own.url, await createStore(own));
  await fetch(`${own.url}/v2/store`, { headers: { authorization: `Bearer ${token}` } });
  const text = await (await fetch(`${own.url}/metrics`)).text();
  service.child.kill("SIGTERM");
  await service.exited;
  valkey.kill();
  await database.drop();
  own.leave();
  return text;
}

/** Label values of failures, from the tables of their codes. */
const known = {
  status: ["200", "303", ...Object.values(problems).map(({ status }) => String(status))],
  route: operations.map(({ path }) => path),
  reason: [...Object.keys(signOnReasons), ...Object.keys(problems)],
  outcome: ["failed", "expired"],
};

type Alert = {
  alert: string;
  expr: string;
  for: string;
  severity: string;
  summary: string;
  description: string;
  runbook: string;
};

/** The rules are YAML of a fixed form, which this function reads; promtool reads them as Prometheus does. */
function readRules(text: string): Alert[] {
  return text
    .split(/^ {6}- (?=alert: )/m)
    .slice(1)
    .map((block) => {
      const folded = block.replaceAll(
        /: >-\n((?: {10}.*\n)+)/g,
        (_, lines: string) => `: ${lines.trim().replaceAll(/\n */g, " ")}\n`,
      );
      const members = [...folded.matchAll(/^ *(\w+): (.+)$/gm)].map(([, name, value = ""]) => [
        name,
        value.replaceAll(/^"|"$/g, ""),
      ]);
      return Object.fromEntries(members) as Alert;
    });
}

const alerts = readRules(read(RULES));

/** GitHub's rule for the anchors of headings. */
const anchorsOf = (page: string): string[] =>
  [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, "")
      .replaceAll(" ", "-"),
  );

describe("alerts", () => {
  test("exist, each with a unique name", () => {
    expect(alerts.length).toBeGreaterThan(10);
    expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length);
    expect(alerts).toHaveLength(read(RULES).match(/- alert:/g)?.length ?? 0);
  });

  test("each has a test with figures", () => {
    const tried = read("deploy/prometheus/latchkey.rules.test.yml");
    expect(alerts.map(({ alert }) => alert).filter((name) => !tried.includes(name))).toEqual([]);
  });

  test.each(alerts.map((rule) => [rule.alert, rule]))("%s asks for what a service shows", (_, { expr }) => {
    if (isOfFleet(expr) && !hasFleet) return;
    expect(faultsOf(expr, exposed, known)).toEqual([]);
  });

  test.each(alerts.map((rule) => [rule.alert, rule]))(
    "%s says how bad it is, what it means and what to do",
    (_, rule) => {
      expect(["critical", "warning", "info"]).toContain(rule.severity);
      expect(rule.for).toMatch(/^\d+[mh]$/);
      expect(rule.summary).toMatch(/^[A-Z]/);
      expect(rule.description).toMatch(/\.$/);
      const [page, anchor] = rule.runbook.split("#");
      expect(page).toBe("docs/alerts.md");
      expect(anchorsOf("docs/alerts.md")).toContain(anchor);
    },
  );
});

const hasPromtool = findProgram("promtool") !== undefined;

describe.skipIf(!hasPromtool)("Prometheus", () => {
  const promtool = async (...args: string[]) => {
    const cwd = fileURLToPath(new URL("../../deploy/prometheus", import.meta.url));
    return (await promisify(execFile)("promtool", args, { cwd })).stdout;
  };

  test("accepts the rules", async () => {
    expect(await promtool("check", "rules", "latchkey.rules.yml")).toContain(
      `SUCCESS: ${alerts.length} rules found`,
    );
  });

  test("raises alerts for bad figures, and none for good ones", async () => {
    expect(await promtool("test", "rules", "latchkey.rules.test.yml")).toContain("SUCCESS");
  });
});

type Panel = {
  title: string;
  type: string;
  targets?: { expr: string }[];
  gridPos: { x: number; y: number; w: number; h: number };
};

describe("the dashboard", () => {
  const dashboard: { panels: Panel[]; templating: { list: { name: string; query: string }[] } } = JSON.parse(
    read("deploy/grafana/latchkey.json"),
  );
  const targets = dashboard.panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => [title, expr] as const),
  );

  test.each(targets)("%s uses series that a service exposes: %s", (_, expr) => {
    if (isOfFleet(expr) && !hasFleet) return;
    expect(faultsOf(expr, exposed, known)).toEqual([]);
  });

  test("uses only its own variables", () => {
    const own = new Set([...dashboard.templating.list.map(({ name }) => name), "__rate_interval"]);
    const text = JSON.stringify(dashboard);
    for (const [, name = ""] of text.matchAll(/\$\{?(\w+)\}?/g)) expect(own).toContain(name);
    for (const { name, query } of dashboard.templating.list.filter(({ query }) =>
      query.startsWith("label_values"),
    ))
      expect(selectorsOf(query.replace(/^label_values\((.*), \w+\)$/, "$1"))[0]?.metric, name).toBe(
        "latchkey_build_info",
      );
  });

  test("has no overlapping panels", () => {
    const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)} ${y + Math.floor(cell / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
  });

  test("shows every metric of the service", () => {
    const shown = new Set(targets.flatMap(([, expr]) => selectorsOf(expr).map(({ metric }) => metric)));
    const missing = [...exposed.types.keys()]
      .filter((name) => name.startsWith("latchkey_"))
      .filter((name) => ![name, `${name}_bucket`, `${name}_count`].some((one) => shown.has(one)));
    expect(missing).toEqual([]);
  });
});

test("docs/watch.md has a row for every metric of ours, with its type and labels, and no other", () => {
  const rows = [...read("docs/watch.md").matchAll(/^\| `(latchkey_\w+)` \| (\w+) \|([^|]*)\|/gm)];
  const documented = rows
    .filter(([, name = ""]) => hasFleet || !isOfFleet(name))
    .map(([, name, type, labels = ""]) => [
      name,
      type,
      [...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label).sort(),
    ]);
  const shown = [...exposed.types]
    .filter(([name]) => name.startsWith("latchkey_"))
    .map(([name, type]) => {
      const ofIt = exposed.series.filter((one) => one.name === name || one.name === `${name}_bucket`);
      const labels = new Set(ofIt.flatMap((one) => Object.keys(one.labels)));
      return [name, type, [...labels].filter((label) => label !== "le").sort()];
    });
  const byName = (a: unknown[], b: unknown[]) => String(a[0]).localeCompare(String(b[0]));
  expect(documented.toSorted(byName)).toEqual(shown.toSorted(byName));
});

describe("the reader of PromQL", () => {
  const shown = readExposition(
    [
      "# TYPE requests_total counter",
      'requests_total{status="200",route="/a"} 1',
      "# TYPE up_time gauge",
      "up_time 1",
    ].join("\n"),
  );
  const statuses = { status: ["500", "503"] };

  test.each([
    ["sum by (status) (rate(requests_total[5m])) > 1", []],
    ['requests_total{status=~"5..|200",job="x"} / ignoring (status) up_time', []],
    ['up{job="x"} == 0', []],
    ["request_total > 1", ["there is no metric request_total"]],
    ['requests_total{code="200"}', ["requests_total has no label code"]],
    ['requests_total{status="2OO"}', ["status of requests_total is never 2OO"]],
    ['requests_total{status!~"200|404"}', ["status of requests_total is never 404"]],
    ["sum by (reason) (requests_total)", ["nothing has the label reason that it groups by"]],
    ["vector(1)", ["it selects nothing"]],
  ])("of %s finds %j", (expression, faults) => {
    expect(faultsOf(expression, shown, statuses)).toEqual(faults);
  });

  test("reads selectors, matchers and groupings alone", () => {
    const expression =
      'histogram_quantile(0.99, sum by (job, le) (rate(a_bucket{x="b(c)",y!~"d|e"}[5m]))) > 0.5 and on (job) b:c offset 5m';
    expect(selectorsOf(expression)).toEqual([
      {
        metric: "a_bucket",
        matchers: [
          { label: "x", operator: "=", value: "b(c)" },
          { label: "y", operator: "!~", value: "d|e" },
        ],
      },
      { metric: "b:c", matchers: [] },
    ]);
    expect(groupingsOf(expression)).toEqual(["job", "le", "job"]);
  });
});
