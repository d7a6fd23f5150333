import { render } from "preact";
import { App } from "./app";
import { read } from "./data";
import "./style.css";

const app = document.getElementById("app")!;
read(document.getElementById("data")).then(
  (page) => render(<App page={page} />, app),
  (error: unknown) => render(<p role="alert">This report can't be read: {String(error)}</p>, app),
);
