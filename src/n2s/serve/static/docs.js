// The OpenAPI description for people: what there is, and a place to try it.

import { call, setToken } from "./api.js";
import { $, make } from "./dom.js";

const add = (parent, ...children) => {
  parent.append(...children);
  return parent;
};

function kind(schema = {}) {
  const plain = schema.anyOf ? schema.anyOf.find((one) => one.type !== "null") || {} : schema;
  return plain.enum ? plain.enum.join(", ") : plain.type || "";
}

function parameters(operation, spec) {
  const rows = (operation.parameters || []).map((one) => {
    const schema = one.schema?.$ref ? spec.components.schemas[one.schema.$ref.split("/").pop()] : one.schema;
    const values = schema?.anyOf?.find((each) => each.$ref);
    const named = values ? spec.components.schemas[values.$ref.split("/").pop()] : schema;
    return add(make("tr"), make("td", one.name), make("td", one.in), make("td", kind(named)), make("td", one.description || schema?.description || ""));
  });
  const head = add(make("tr"), ...["parameter", "in", "type", ""].map((text) => make("th", text)));
  return add(make("table"), head, ...rows);
}

function example(operation) {
  const schema = operation.requestBody?.content?.["application/json"]?.schema;
  if (!schema) return null;
  const named = (title) => (schema.anyOf || []).find((one) => one.title === title);
  const instance = { depot: { x: 0, y: 0 }, requests: [{ pickup: { x: 3, y: 4 }, delivery: { x: 3, y: 0 } }, { pickup: { x: 6, y: 8 }, delivery: { x: 0, y: 4 } }] };
  if (named("Search")) return { instance, variant: "lifo", seconds: 1 };
  if (named("Route")) return { instance, route: ["1:pickup", "2:pickup", "2:delivery", "1:delivery"] };
  return instance;
}

function trial(path, method, operation) {
  const form = make("form");
  const inner = path.match(/{(\w+)}/g) || [];
  const address = make("input");
  address.value = path;
  address.setAttribute("aria-label", "Address, with parameters");
  const body = example(operation);
  const area = make("textarea", body ? JSON.stringify(body, null, 1) : "");
  area.setAttribute("aria-label", "Body");
  const out = make("pre");
  out.hidden = true;
  add(form, add(make("div", "", "row"), address, make("button", inner.length ? "Try (fill in the id)" : "Try")), ...(body ? [area] : []), out);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    out.hidden = false;
    out.textContent = "…";
    try {
      const text = await (await call(address.value, { method: method.toUpperCase(), body: body ? area.value : undefined })).text();
      out.textContent = text.length > 20000 ? `${text.slice(0, 20000)} …` : text;
    } catch (error) {
      out.textContent = error.message;
    }
  });
  return form;
}

$("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  setToken($("token").value);
});
try {
  const spec = await (await call("/openapi.json")).json();
  $("about").textContent = `Version ${spec.info.version}. ${spec.info.description}`;
  for (const [path, methods] of Object.entries(spec.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const card = make("details", "", "card");
      const title = add(make("summary"), make("span", method.toUpperCase(), "verb"), make("code", path), ` ${operation.summary}`);
      add(card, title, make("p", operation.description || ""));
      if ((operation.parameters || []).length) card.append(parameters(operation, spec));
      const schema = operation.requestBody?.content?.["application/json"]?.schema;
      if (schema) add(card, add(make("details"), make("summary", "Body (JSON Schema)"), make("pre", JSON.stringify(schema, null, 1))));
      const answers = Object.entries(operation.responses).map(([status, one]) => `${status}: ${one.description}`);
      add(card, make("p", answers.join(" ")), trial(path, method, operation));
      $("main").append(card);
    }
  }
} catch (error) {
  $("alert").hidden = false;
  $("alert").textContent = error.message;
}
