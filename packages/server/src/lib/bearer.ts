/**
 * The token after `Bearer`, in any case, and one space (RFC 6750, section 2.1). A colon after `Bearer` is skipped,
 * because published clients of this API family send one. Undefined for anything else.
 */
export function readBearer(authorization: string, maxLength: number): string | undefined {
  const token = /^bearer:? ([\x21-\x7e]+)$/i.exec(authorization)?.[1];
  return token !== undefined && token.length <= maxLength ? token : undefined;
}
