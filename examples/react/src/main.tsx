import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Shop } from "./shop";

createRoot(document.body).render(
  <StrictMode>
    <Shop />
  </StrictMode>,
);
