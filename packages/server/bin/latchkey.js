#!/usr/bin/env node
import { fileURLToPath } from "node:url";
import { isRightNode, launch } from "./launch.js";

if (isRightNode()) await import("./start.js");
else launch([fileURLToPath(new URL("start.js", import.meta.url)), ...process.argv.slice(2)]);
