import { give, newShare, type Share, standing } from "./fair-share.ts";

/**
 * The claimants of a key: the program that holds its secret, and the public, because everyone who knows the client id
 * can get an implicit token. The public's sources are told apart by address.
 */
export type PoolClaims = { program: Share; public: Public | undefined };

type Public = { share: Share; most: Share; sources: Map<string, Share> };

/** The most sources of one key in memory; the source served longest ago is forgotten first. */
export const MAX_SOURCES = 1000;

export const newClaims = (): PoolClaims => ({ program: newShare(), public: undefined });

export const drawerOf = (claims: PoolClaims, source: string | undefined): Share =>
  source === undefined ? claims.program : publicOf(claims).share;

export function standingOfSource(
  claims: PoolClaims,
  source: string | undefined,
  nowMs: number,
  memory: number,
): number {
  if (source === undefined) return 0;
  const { sources, most } = publicOf(claims);
  const share = sources.get(source);
  return share ? standing(share, most, nowMs, memory) : 0;
}

/** Only served requests are remembered, so the store's limit also limits how fast this grows. */
export function giveToSource(claims: PoolClaims, source: string, nowMs: number, memory: number): void {
  const { sources, most } = publicOf(claims);
  const share = sources.get(source) ?? newShare();
  sources.delete(source);
  if (sources.size >= MAX_SOURCES) sources.delete(sources.keys().next().value as string);
  sources.set(source, share);
  give(share, most, nowMs, memory);
}

/** Forgets sources whose share has faded. They are in the order in which they were last served. */
export function sweepSources(claims: PoolClaims, untilMs: number): void {
  for (const [source, { atMs }] of claims.public?.sources ?? []) {
    if (atMs > untilMs) return;
    claims.public?.sources.delete(source);
  }
}

function publicOf(claims: PoolClaims): Public {
  claims.public ??= { share: newShare(), most: newShare(), sources: new Map() };
  return claims.public;
}
