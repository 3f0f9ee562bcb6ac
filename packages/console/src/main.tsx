import { onlineManager, QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Router } from "wouter";
import { Console } from "./frame/console.tsx";
import { focusWhatIsPressed } from "./parts/forms/focus-pressed.ts";
import { keepFocus } from "./parts/forms/keep-focus.ts";
import { noteRefusal } from "./session/session.ts";
import "../../server/src/http/look/tokens.css";
import "./styles/tokens.css";
import "./styles/ground.css";
import "./styles/frame.css";
import "./styles/parts.css";
import "./styles/lists.css";
import "./styles/palette.css";
import "./styles/figures.css";
import "./styles/providers.css";
import "./styles/charts.css";
import "./styles/print.css";

/** No retries here, because the SDK already repeats requests that are safe to repeat. */
const queries = new QueryClient({
  queryCache: new QueryCache({ onError: noteRefusal }),
  defaultOptions: { queries: { retry: false, staleTime: 2000 } },
});

// Ignores the browser's offline state, in which queries would pause: screens would load for ever and show old
// figures as current.
onlineManager.setEventListener(() => () => {});
addEventListener("online", () => void queries.invalidateQueries());

focusWhatIsPressed();
keepFocus();

const place = document.getElementById("console");
if (place)
  createRoot(place).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <Router base="/console">
          <Console />
        </Router>
      </QueryClientProvider>
    </StrictMode>,
  );
