import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import * as library from "oidc-provider";

/** Types for the used part of the library, which has none. */
export const { Provider, interactionPolicy } = library as unknown as {
  Provider: new (issuer: string, configuration: object) => Provider;
  interactionPolicy: {
    base(): Policy;
    Prompt: new (of: { name: string; requestable: boolean }) => Prompt;
    Check: new (reason: string, description: string, error: string, isNeeded: () => boolean) => object;
  };
};

export type Provider = {
  callback(): RequestListener;
  use(middleware: (context: Context, next: () => Promise<void>) => Promise<void>): void;
  on(event: "error" | "server_error", listener: (...about: unknown[]) => void): void;
  createContext(request: IncomingMessage, response: ServerResponse): Context;
  interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<Interaction>;
  interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>;
  Client: { find(id: string): Promise<Client | undefined> };
  Grant: {
    new (of: { accountId: string; clientId: string }): Grant;
    find(id: string): Promise<Grant | undefined>;
  };
  Session: {
    get(context: Context): Promise<Session>;
    findByUid(uid: string): Promise<Session | undefined>;
  };
};

/** Koa's context. */
export type Context = {
  req: IncomingMessage;
  method: string;
  path: string;
  status: number;
  type: string;
  body: unknown;
  set(headers: Record<string, string>): void;
};

/** Koa's context at the authorization endpoint, after a sign-in. */
export type AuthorizationContext = Context & {
  oidc: {
    provider: Provider;
    account: { accountId: string };
    client: { clientId: string };
    session: { grantIdFor(clientId: string): string | undefined };
  };
};

export type Interaction = {
  uid: string;
  exp: number;
  prompt: { name: string };
  params: { client_id: string; redirect_uri: string };
  session?: { uid?: string; accountId: string };
  save(lifetimeSeconds: number): Promise<unknown>;
};

export type Session = {
  accountId?: string;
  authorizations?: Record<string, { sid?: string; grantId?: string }>;
  destroy(): Promise<void>;
};

type Client = {
  backchannelLogoutUri?: string;
  backchannelLogout(subject: string, sid: string | undefined): Promise<void>;
};
type Grant = { addOIDCScope(scope: string): void; save(): Promise<string>; destroy(): Promise<void> };
type Policy = { add(prompt: Prompt, at: number): void; get(name: string): Prompt };
type Prompt = { checks: { add(check: object): void } };
