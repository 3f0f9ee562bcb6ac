export { ApiError, type Fault } from "./api-error.ts";
export type { ErrorCode, ProblemCode, SdkErrorCode, SignOnErrorCode } from "./error-codes.ts";
export type { Exchange, Fetch, Step } from "./exchange.ts";
export { createStorefront } from "./storefront.ts";
export type {
  BegunSignOn,
  Customer,
  CustomerAccount,
  CustomerChange,
  CustomerToken,
  NewCustomer,
  Provider,
  Session,
  SignOnOptions,
  StorageLike,
  Storefront,
  StorefrontOptions,
} from "./types.ts";
