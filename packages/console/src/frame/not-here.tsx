import { Link } from "wouter";
import { Screen } from "../parts/screen.tsx";

export function NotHere() {
  return (
    <Screen
      title="This page doesn’t exist"
      lead="The address may be old or mistyped, or a part of it was cut off."
    >
      <p>
        <Link href="/">Go to Home</Link>, or <Link href="/find">look up</Link> a sign-on, a person or a key.
      </p>
    </Screen>
  );
}
