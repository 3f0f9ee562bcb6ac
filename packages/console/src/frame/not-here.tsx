import { Link } from "wouter";
import { Screen } from "../parts/screen.tsx";

export function NotHere() {
  return (
    <Screen title="There is no such screen" lead="The address may be old, or was cut off on its way here.">
      <p>
        <Link href="/">Go to Home</Link>, or <Link href="/find">find</Link> what you were looking for.
      </p>
    </Screen>
  );
}
