import { mountFrame } from "../frame/frame.ts";
import { visitor } from "../frame/visitor.ts";

mountFrame(visitor());
