export { type Demo, startDemo } from "./demo.ts";
export { startPracticeIdp } from "./practice-idp/start.ts";
export { startStorefront } from "./storefront/start.ts";
