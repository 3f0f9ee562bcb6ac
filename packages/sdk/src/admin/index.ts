export type { GetToken } from "../access.ts";
export { ApiError, type Fault } from "../api-error.ts";
export type * from "../contract.ts";
export type { ErrorCode, ProblemCode, SdkErrorCode, SignOnErrorCode } from "../error-codes.ts";
export type { Exchange, Fetch } from "../exchange.ts";
export { type Admin, type AdminOptions, createAdmin } from "./admin.ts";
export type { CsvQuery, FileOptions } from "./csv.ts";
export type { EventPage, EventQuery } from "./events.ts";
export type { FilterQuery, Listing, ListQuery, Page, PageQuery } from "./listing.ts";
export { findMemberSignIn, type MemberCode, redeemMemberCode, revokeMemberToken } from "./member.ts";
export {
  beginMemberSignOn,
  completeMemberSignOn,
  type MemberSignOn,
  type MemberSignOnOptions,
  type MemberToken,
} from "./member-sign-on.ts";
export type { Answer } from "./resource.ts";
