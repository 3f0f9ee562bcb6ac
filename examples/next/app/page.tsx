import { findToken } from "../lib/shop";

export default async function Home() {
  const isSignedIn = (await findToken()) !== undefined;
  return (
    <>
      <h1>A stool of ash, for the kitchen</h1>
      <p className="quiet">
        Three legs, so that it stands on any floor. Customers who sign in pay ten per cent less.
      </p>
      <p className="price">
        {isSignedIn && <s>€ 120</s>} {isSignedIn ? "€ 108" : "€ 120"}
      </p>
    </>
  );
}
