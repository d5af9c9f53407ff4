// The service as the page calls it. Every error is the sentence that the service said.

const KEY = "n2s-token";
let whenTokenNeeded = () => {};

export class ApiError extends Error {}

export function onTokenNeeded(action) {
  whenTokenNeeded = action;
}

export function setToken(token) {
  sessionStorage.setItem(KEY, token);
}

export async function call(path, { method = "GET", body, query = {} } = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  const address = given.length ? `${path}?${new URLSearchParams(given)}` : path;
  const token = sessionStorage.getItem(KEY);
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  let response;
  try {
    response = await fetch(address, { method, body, headers });
  } catch {
    throw new ApiError("The service cannot be reached.");
  }
  if (response.ok) return response;
  if (response.status === 401) whenTokenNeeded();
  let sentence = `The service answered ${response.status}.`;
  try {
    sentence = (await response.json()).error || sentence;
  } catch { /* not even JSON: the status says what there is to say */ }
  throw new ApiError(sentence);
}

// Server-sent events by fetch: EventSource could not show a token.
export async function* events(path) {
  const response = await call(path);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  try {
    for (;;) {
      let part;
      try {
        part = await reader.read();
      } catch {
        throw new ApiError("The connection to the service was lost.");
      }
      if (part.done) return;
      text += part.value;
      const blocks = text.split("\n\n");
      text = blocks.pop();
      for (const block of blocks) {
        const found = {};
        for (const line of block.split("\n")) {
          const colon = line.indexOf(": ");
          if (colon > 0) found[line.slice(0, colon)] = line.slice(colon + 2);
        }
        if (found.event) yield { name: found.event, data: found.data };
      }
    }
  } finally {
    reader.cancel().catch(() => {}); // who stops listening hangs up
  }
}
