import { mountFrame } from "./frame.ts";
import { visitor } from "./visitor.ts";

mountFrame(visitor());
