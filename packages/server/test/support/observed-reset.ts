import { resetObserved } from "./observed.ts";

export default resetObserved;
