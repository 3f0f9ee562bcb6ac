import express from "express";
import { defineConfig } from "vite";
import { createBackend } from "./backend.js";

/**
 * In development the backend runs inside Vite's server, on the same origin, so cookies and `Origin` are as in
 * production.
 */
const backend = {
  name: "backend",
  configureServer: ({ middlewares }) => {
    middlewares.use(express().use(createBackend(process.env)));
  },
};

export default defineConfig({ plugins: [backend], server: { port: 5173, strictPort: true } });
