import { createScript } from "./script.ts";

/** An instance that has missed two beats is gone. */
export const GONE_AFTER_MS = 3000;

/** Adds first: a server whose memory is full refuses to add, but not after a command that removes. */
export const BEAT = createScript(`
redis.call('ZADD', slot, now, ARGV[3])
redis.call('ZREMRANGEBYSCORE', slot, '-inf', now - ${GONE_AFTER_MS})
redis.call('ZREMRANGEBYSCORE', slot, now + ${GONE_AFTER_MS}, '+inf')
redis.call('PEXPIRE', slot, ${GONE_AFTER_MS})
return { math.floor(now), redis.call('ZCARD', slot) }`);
export const LEAVE = createScript(`return { redis.call('ZREM', slot, ARGV[3]) }`);
export const INSTANCES = "instances";
