/** The used part of the package, which has no types. */
declare module "passport" {
  import type { IncomingMessage, ServerResponse } from "node:http";

  type Done = (error: unknown, user: unknown) => void;
  const passport: {
    use(strategy: object): void;
    authenticate(
      name: string,
      options: object,
      done: Done,
    ): (request: IncomingMessage, response: ServerResponse, next: Done) => void;
  };
  export default passport;
}
