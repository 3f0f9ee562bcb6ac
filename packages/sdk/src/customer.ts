import { type Api, pathOf } from "./access.ts";
import { ApiError } from "./api-error.ts";
import type { Call } from "./exchange.ts";
import { readAll } from "./read-all.ts";
import { tellShopper } from "./shopper-messages.ts";
import type { Customer, CustomerAccount, CustomerToken, Session } from "./types.ts";

/** A customer's access to their own account and sessions. */
export function customerAccount(api: Api, given: CustomerToken | string): CustomerAccount {
  const token = () => (typeof given === "string" ? readToken(given) : given);
  const own = () => `/v2/customers${pathOf(token().customerId)}`;
  const credentials = (step: NonNullable<Call["step"]>) => ({ customerToken: token().token, step });

  async function customer(method: Call["method"], change?: object): Promise<Customer> {
    const { data } = await api<{ data: Customer }>({
      method,
      path: own(),
      ...(change && { data: { type: "customer", ...change } }),
      ...credentials("customer"),
    });
    return data;
  }
  const end = async (path: string) => {
    await api({ method: "DELETE", path: `${own()}/tokens${path}`, ...credentials("sign_out") });
  };

  return {
    get: () => customer("GET"),
    update: (change) => customer("PUT", change),
    delete: async () => void (await customer("DELETE")),
    sessions: async () => readAll<Session>(api, `${own()}/tokens`, credentials("sessions")),
    async signOut(sessionId) {
      try {
        await end(pathOf(sessionId || token().id));
      } catch (error) {
        // The token is no longer valid, so the session has ended already.
        const isDone = !sessionId && error instanceof ApiError && error.code === "customer_token_invalid";
        if (!isDone) throw error;
      }
    },
    signOutEverywhere: async () => end(""),
  };
}

/** Reads the customer and session ids from the JWT. Only the service verifies its signature. */
function readToken(token: string): Pick<CustomerToken, "id" | "customerId" | "token"> {
  try {
    const [, claims = ""] = token.split(".");
    const { sub, jti } = JSON.parse(atob(claims.replace(/-/g, "+").replace(/_/g, "/")));
    if (!sub || !jti) throw new TypeError("it names nobody");
    return { id: jti, customerId: sub, token };
  } catch (cause) {
    const code = "customer_token_invalid";
    throw new ApiError(code, tellShopper(code, code), { cause });
  }
}
