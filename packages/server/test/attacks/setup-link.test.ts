import { afterEach, beforeEach, expect, test } from "vitest";
import { deleteProfile } from "../../src/contract/oidc-profiles.ts";
import { checkSetup, deleteSetupLink, listSetupLinks } from "../../src/contract/setup-links.ts";
import { newCredential } from "../../src/lib/secrets.ts";
import { ANONYMOUS } from "../../src/rate-limit/cap.ts";
import { makeLink, visit } from "../operations/setup-links/links.ts";
import { type Answer, call } from "../support/call.ts";
import { createFederation, type Federation } from "../support/federation.ts";
import { createMembersSide } from "../support/members.ts";

/** The attack: a stranger opens the page of a set-up link without having been given a link that works, or uses one up. */

let f: Federation;
beforeEach(async () => {
  f = await createFederation();
});
afterEach(() => f.close());

const at = () => ({ realm: f.realmId, id: f.profileId });
const check = (token: string) => call(f.latchkey.app, checkSetup, { ids: { token }, form: {} });
/** The answer without the request's id. */
const shownBy = ({ status, body, headers }: Answer) => [
  status,
  body.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, ""),
  [...headers.keys()],
];

test("guessed, misspelt, ended, expired and orphaned links have one and the same answer, on both paths", async () => {
  const side = await createMembersSide(f);
  const orphaned = await makeLink(f.store, { realm: side.realmId, id: side.profileId });
  await f.store.call(deleteProfile, { ids: { realm: side.realmId, id: side.profileId } });
  const ended = await makeLink(f.store, at());
  await f.store.call(deleteSetupLink, { ids: { ...at(), link: ended.id } });
  const expired = await makeLink(f.store, at(), 1);
  f.latchkey.clock.advance(86_400_000);
  const tokens = [
    newCredential("lksl"),
    newCredential("lkac"),
    expired.token.toLowerCase(),
    `${expired.token}x`,
    "%00",
    "x",
    ended.token,
    expired.token,
    orphaned.token,
  ];
  for (const ask of [(token: string) => visit(f.latchkey, token), check]) {
    const answers = [];
    for (const token of tokens) answers.push(shownBy(await ask(token)));
    expect(answers[0]?.[0]).toBe(404);
    for (const answer of answers) expect(answer).toEqual(answers[0]);
  }
});

test("one address gets 429 after many guesses, before the database is asked", async () => {
  const guess = (peer: string) => visit(f.latchkey, newCredential("lksl"), { peer });
  for (let tries = 0; tries < ANONYMOUS.burst; tries++) await guess("192.0.2.1");
  const refused = await guess("192.0.2.1");
  expect([refused.status, refused.code]).toEqual([429, "rate_limit_exceeded"]);
  expect((await guess("192.0.2.2")).status).toBe(404);
});

test("another store's back office cannot see or end a link, not even by its id under a profile of its own", async () => {
  const link = await makeLink(f.store, at());
  const stranger = await f.latchkey.createStore(1000);
  for (const ask of [
    stranger.call(listSetupLinks, { ids: at() }),
    stranger.call(deleteSetupLink, { ids: { ...at(), link: link.id } }),
  ])
    expect((await ask).code).toBe("realm_not_found");
  const second = await f.addProfile({ name: "Second" });
  const own = { realm: f.realmId, id: second, link: link.id };
  expect((await f.store.call(deleteSetupLink, { ids: own })).code).toBe("setup_link_not_found");
  expect((await visit(f.latchkey, link.token)).status).toBe(200);
});

test("a token of a link opens nothing else, and no other credential opens the page", async () => {
  const { token } = await makeLink(f.store, at());
  expect((await call(f.latchkey.app, listSetupLinks, { ids: at(), token })).code).toBe("token_invalid");
  for (const other of [await f.store.token(), f.store.key.clientSecret])
    expect((await visit(f.latchkey, other)).status).toBe(404);
});

test("no log line has a link's token, whatever the answer", async () => {
  const { token } = await makeLink(f.store, at());
  await visit(f.latchkey, token);
  await visit(f.latchkey, token, { query: "ui_locales=de" });
  await check(token);
  await visit(f.latchkey, `${token}x`);
  await f.latchkey.app.fetch(new Request(`http://internal/setup/${token}/other`));
  await f.latchkey.app.fetch(new Request(`http://internal/setup/${token}`, { method: "DELETE" }));
  await f.latchkey.app.tidy();
  const lines = JSON.stringify(f.latchkey.logLines);
  expect(lines).toContain("/setup/{token}");
  expect(lines).not.toContain(token.slice(5, 30));
});

test("a page shows nothing of people, and no name but those of store, realm and provider", async () => {
  const side = await createMembersSide(f);
  await side.invite("grace@shop.example", "administrator", { name: "Grace Hopper" });
  await f.signOn();
  await f.latchkey.app.tidy();
  const { token } = await makeLink(f.store, { realm: side.realmId, id: side.profileId });
  for (const shown of [
    (await visit(f.latchkey, token)).body,
    (await visit(f.latchkey, (await makeLink(f.store, at())).token)).body,
  ])
    expect(shown).not.toMatch(/grace|hopper|ada@|shop\.example/i);
});
