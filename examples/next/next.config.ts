import type { NextConfig } from "next";

const config: NextConfig = {
  poweredByHeader: false,
  headers: async () => [
    {
      source: "/:path*",
      headers: [
        {
          key: "Content-Security-Policy",
          value: "base-uri 'none'; frame-ancestors 'none'; object-src 'none'",
        },
        // Not `no-referrer`: with it browsers send no `Origin` with a form.
        { key: "Referrer-Policy", value: "same-origin" },
        { key: "X-Content-Type-Options", value: "nosniff" },
      ],
    },
  ],
};

export default config;
