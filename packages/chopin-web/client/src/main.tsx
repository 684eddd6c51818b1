/** Starts the application in the page that the server sent. */

import { setNonce } from "get-nonce";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./App";
import { Boundary } from "./components/Boundary";
import { pageNonce } from "./pageNonce";
import "./styles/tokens.css";
import "./styles/page.css";
import "./styles/controls.css";
import "./styles/lists.css";

const nonce = pageNonce();
// The dialog brings a style element of its own, to keep the page behind it from scrolling.
if (nonce !== null) setNonce(nonce);

const root = document.getElementById("root");
if (root === null) throw new Error("index.html has no #root");
createRoot(root).render(
  <StrictMode>
    <Boundary>
      <App />
    </Boundary>
  </StrictMode>,
);
