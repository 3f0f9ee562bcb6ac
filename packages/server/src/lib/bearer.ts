/**
 * RFC 6750 2.1: `Bearer`, in any case, one space, one token. Published clients of this API family write `Bearer:`, so a colon is
 * passed over. Undefined for anything else.
 */
export function readBearer(authorization: string, maxLength: number): string | undefined {
  const token = /^bearer:? ([\x21-\x7e]+)$/i.exec(authorization)?.[1];
  return token !== undefined && token.length <= maxLength ? token : undefined;
}
