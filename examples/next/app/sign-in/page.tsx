import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { findNotice, shop } from "../../lib/shop";

export const metadata: Metadata = { title: "Sign in" };

const NO_COOKIES = {
  message:
    "Your browser has not stored a cookie of this shop, which sign-in needs. Allow cookies for it, then try again.",
  reference: undefined,
};

export default async function SignIn({ searchParams }: { searchParams: Promise<{ without?: string }> }) {
  const { without } = await searchParams;
  const kept = await findNotice();
  // The notice's cookie arrived, so cookies work. The redirect removes `without`, which would say otherwise
  // after a reload.
  if (kept && without) redirect("/sign-in");
  const notice = kept ?? (without === "cookies" ? NO_COOKIES : undefined);
  const providers = await shop.listProviders();
  return (
    <>
      <h1>Good to see you</h1>
      {notice && (
        <div className="notice" role="alert">
          <p>{notice.message}</p>
          {notice.reference && (
            <p>
              Reference <span className="reference">{notice.reference}</span>
            </p>
          )}
        </div>
      )}
      <form className="card providers" method="post" action="/sign-in/start">
        {providers.map(({ id, name, isUp }) => (
          <div className="providers" key={id}>
            <button className="button" type="submit" name="provider" value={id} disabled={!isUp}>
              Continue with {name}
            </button>
            {!isUp && <p className="quiet">{name} does not answer right now. Please try again soon.</p>}
          </div>
        ))}
        {providers.length === 0 && <p>There is no way to sign in yet.</p>}
      </form>
    </>
  );
}
