import type { Metadata } from "next";
import type { ReactNode } from "react";
import { findToken } from "../lib/shop";
import "./style.css";

export const metadata: Metadata = {
  title: { default: "Hazel & Ash", template: "%s – Hazel & Ash" },
  icons: { icon: "data:," },
};

/** Next.js adds charset and viewport. */
export default async function Layout({ children }: { children: ReactNode }) {
  const isSignedIn = (await findToken()) !== undefined;
  return (
    <html lang="en">
      <body>
        <header>
          <a className="brand" href="/">
            Hazel <i>&amp;</i> Ash
          </a>
          <a className="button plain" href={isSignedIn ? "/account" : "/sign-in"}>
            {isSignedIn ? "Your account" : "Sign in"}
          </a>
        </header>
        <main>{children}</main>
        <footer>An example for Latchkey, made with Next.js.</footer>
      </body>
    </html>
  );
}
