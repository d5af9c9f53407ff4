// The page: an instance from somewhere, a search that is watched, a route to look at.

import { ApiError, call, events, onTokenNeeded, setToken } from "./api.js";
import { palette } from "./colours.js";
import { drawCurve } from "./curve.js";
import { $, make, number, save } from "./dom.js";
import { Editor } from "./editor.js";
import { MapView } from "./map.js";
import { asCity, readProblem } from "./problem.js";
import { Steps } from "./steps.js";

const state = {
  problem: null, colours: new Map(),
  runs: [], // {solution, text, label, course} of this instance, oldest first
  shown: null, compared: null,
  job: null, // {id, course, span} while a search runs
  about: { max_seconds: 60, max_body: 32 * 2 ** 20, tiles: "" },
  set: [], examples: 0,
};

const map = new MapView($("map"));
const steps = new Steps({ moved: (index, partner) => map.setCurrent(index, partner) });
const editor = new Editor(map, {
  hint: (text) => { $("hint").textContent = text; $("undo").disabled = editor.empty; },
  changed: (text) => takeInstance(text, { keepView: true }),
});
map.onStop = (index) => { if (state.shown) steps.go(index); };

// --- what is said ----------------------------------------------------------------------------------

function tell(sentence) {
  $("alert").hidden = !sentence;
  $("alert").textContent = sentence;
}

async function attempt(action) {
  tell("");
  try {
    return await action();
  } catch (error) {
    if (!(error instanceof ApiError)) console.error(error);
    tell(error instanceof ApiError ? error.message : `This page failed: ${error.message}`);
    return undefined;
  }
}

// --- instances ---------------------------------------------------------------------------------------

function takeInstance(text, { keepView = false } = {}) {
  const problem = readProblem(text);
  forsake();
  const view = { ...map.view };
  state.problem = problem;
  state.colours = palette(problem.requests);
  state.runs = [];
  state.shown = state.compared = null;
  steps.clear();
  map.show(problem, state.colours);
  if (keepView) Object.assign(map.view, view);
  $("no-map").hidden = problem.mapped;
  $("name").textContent = problem.name;
  const count = problem.requests.length;
  $("facts").textContent = `${count} request${count === 1 ? "" : "s"}, ${problem.nodes.length} nodes`;
  if (!keepView) document.querySelector(`input[name=variant][value=${problem.variant}]`).checked = true;
  $("tiles-label").hidden = !(state.about.tiles && problem.geographic && problem.mapped);
  showRuns();
  refresh();
}

async function openFiles(files) {
  const list = [...files];
  if (!list.length) return;
  await attempt(async () => {
    const size = list.reduce((sum, file) => sum + file.size, 0);
    if (size > state.about.max_body) throw new ApiError("That is more than this service takes.");
    list.sort((a, b) => Number(b.name.endsWith(".mtc")) - Number(a.name.endsWith(".mtc")));
    let body = list[0];
    if (list.length > 1) {
      const texts = await Promise.all(list.map(async (file) => ({ name: file.name, text: await file.text() })));
      body = JSON.stringify({ files: texts });
    }
    const response = await call("/v1/convert", { method: "POST", body, query: { to: "json", name: list[0].name } });
    const text = await response.text();
    leaveEditor();
    const content = JSON.parse(text);
    state.set = content.format === "n2s-instances" ? content.instances : [];
    $("which-row").hidden = !state.set.length;
    $("which").replaceChildren(...state.set.map((one, i) => {
      const option = make("option", one.name || String(i));
      option.value = i;
      return option;
    }));
    takeInstance(state.set.length ? JSON.stringify(state.set[0]) : text);
  });
}

async function generate(event) {
  event.preventDefault();
  await attempt(async () => {
    const kind = $("kind").value;
    const query = {
      requests: $("requests").value, seed: state.examples, variant: chosenVariant(),
      distribution: kind === "city" ? "mixed" : kind,
    };
    const text = await (await call("/v1/example", { query })).text();
    state.examples += 1;
    leaveEditor();
    $("which-row").hidden = true;
    takeInstance(kind === "city" ? asCity(text) : text);
  });
}

function leaveEditor() {
  editor.stop();
  editor.reset(false);
  $("draw").setAttribute("aria-pressed", "false");
  $("undo").disabled = true;
  $("hint").textContent = "Click pickups and deliveries onto the map.";
}

function toggleEditor() {
  const on = !editor.active;
  $("draw").setAttribute("aria-pressed", String(on));
  if (!on) {
    editor.stop();
    $("hint").textContent = "Click pickups and deliveries onto the map.";
    return;
  }
  if (editor.empty) { // a fresh sheet, on the same part of the Earth if there was one
    const geographic = Boolean(state.problem && state.problem.geographic && state.problem.mapped);
    editor.reset(geographic);
    const [view, projection] = [{ ...map.view }, map.projection];
    forsake();
    state.problem = null;
    state.runs = [];
    state.shown = state.compared = null;
    steps.clear();
    map.show(null, new Map());
    if (geographic) {
      Object.assign(map.view, view);
      map.projection = projection;
    }
    $("no-map").hidden = true;
    $("name").textContent = "A drawing";
    $("facts").textContent = "";
    showRuns();
    refresh();
  }
  editor.start();
  $("map").focus();
}

// --- searching ---------------------------------------------------------------------------------------

const chosenVariant = () => document.querySelector("input[name=variant]:checked").value;

async function solve(event) {
  event.preventDefault();
  if (!state.problem || state.job) return;
  const problem = state.problem;
  const variant = chosenVariant();
  const seconds = Number($("seconds").value);
  const options = { variant, seconds, seed: Number($("seed").value) };
  if ($("go-on").checked && state.shown) options.initial = state.shown.solution.route;
  if (editor.active) toggleEditor();
  await attempt(async () => {
    // The instance goes back as the text it came as: a browser would round long numbers.
    const body = `{"instance": ${problem.text}, ${JSON.stringify(options).slice(1)}`;
    state.job = { id: null, course: [], span: seconds };
    state.compared = state.shown;
    map.setGhost(state.shown ? state.shown.solution.route : null);
    refresh();
    try {
      const response = await call("/v1/jobs", { method: "POST", body });
      state.job.id = (await response.json()).id;
      if (state.job.stopping || state.problem !== problem) forsake();
      await watch(problem, variant, seconds);
    } finally {
      state.job = null;
      $("progress").textContent = "";
      if (state.shown) showRun();
      else refresh();
    }
  });
}

async function watch(problem, variant, seconds) {
  const { job } = state;
  steps.clear();
  map.setRoute(null, true);
  for await (const { name, data } of events(`/v1/jobs/${job.id}/events`)) {
    if (state.problem !== problem) return; // another instance was opened meanwhile
    const body = JSON.parse(data);
    if (name === "state") {
      $("progress").textContent = body.state === "queued" ? `waiting, ${body.before} before` : "searching …";
    } else if (name === "improvement") {
      job.course.push({ seconds: body.seconds, best: body.best });
      if (body.route) map.setRoute(body.route, true);
      $("cost").textContent = number(body.best);
      $("progress").textContent = `${number(body.seconds)} s`;
      redrawCurve();
    } else if (name === "end") {
      if (!body.solution) throw new ApiError(body.error || "The search ended without a route.");
      finish(body.solution, data, variant, seconds);
    }
  }
}

function finish(solution, data, variant, seconds) {
  const course = solution.record.history.map(([, at, best]) => ({ seconds: at, best }));
  course.push({ seconds: solution.record.seconds, best: solution.cost });
  const label = `${state.runs.length + 1}: ${number(solution.cost)} (${variant}, ${number(seconds)} s)`;
  // Cut out of the answer, not printed anew, for the same reason as above.
  const text = data.slice(data.indexOf('"solution": ') + 12, -1);
  const run = { solution, text, label, course };
  state.compared = state.shown ?? state.runs[state.runs.length - 1] ?? null;
  state.runs.push(run);
  state.shown = run;
}

function showRun() {
  const run = state.shown;
  map.setRoute(run.solution.route);
  steps.show(run.solution, state.problem, state.colours);
  showRuns();
  refresh();
}

const end = (job) => call(`/v1/jobs/${job.id}`, { method: "DELETE" });

async function stop() {
  if (!state.job) return;
  state.job.stopping = true; // it may not have an id yet
  if (state.job.id) await attempt(() => end(state.job));
}

// A search for an instance that is no longer shown serves nobody.
function forsake() {
  if (state.job?.id) end(state.job).catch(() => {});
}

// --- runs, comparison, downloads -----------------------------------------------------------------------

function showRuns() {
  const others = state.runs.filter((run) => run !== state.shown);
  $("compare-row").hidden = !others.length;
  $("compare").replaceChildren(new Option("nothing", ""), ...others.map((run) => new Option(`run ${run.label}`, state.runs.indexOf(run))));
  if (!others.includes(state.compared)) state.compared = null;
  $("compare").value = state.compared ? state.runs.indexOf(state.compared) : "";
  const line = $("difference");
  line.textContent = line.className = "";
  if (state.shown && state.compared) {
    const [now, before] = [state.shown.solution.cost, state.compared.solution.cost];
    const change = before ? (100 * (now - before)) / before : 0;
    const equal = Math.abs(now - before) <= 1e-9 * Math.abs(before);
    line.textContent = equal ? "The same cost." : `${number(Math.abs(now - before))} (${Math.abs(change).toFixed(2)} %) ${now < before ? "shorter" : "longer"}.`;
    line.className = equal ? "" : now < before ? "good" : "bad";
  }
  if (state.problem) map.setGhost(state.compared ? state.compared.solution.route : null);
  redrawCurve();
}

function redrawCurve() {
  const course = state.job ? state.job.course : state.shown ? state.shown.course : [];
  const ghost = state.compared ? state.compared.course : [];
  drawCurve($("curve"), course, ghost, state.job ? state.job.span : 0);
}

async function download(to) {
  const { solution, text } = state.shown;
  const plain = state.problem.name.replace(/[^\w-]+/g, "_").slice(0, 60) || "route";
  if (to === "json") {
    save(`${plain}.route.json`, text, "application/json");
    return;
  }
  const rest = { route: solution.route, variant: solution.variant, record: solution.record };
  const body = `{"instance": ${state.problem.text}, ${JSON.stringify(rest).slice(1)}`;
  const response = await call("/v1/evaluate", { method: "POST", body, query: { to } });
  save(`${plain}.route.${to}`, await response.blob());
}

// What can be done now.
function refresh() {
  const busy = state.job !== null;
  $("solve").disabled = busy || !state.problem;
  $("stop").disabled = !busy;
  $("go-on").disabled = !state.shown || state.shown.solution.variant !== chosenVariant();
  if ($("go-on").disabled) $("go-on").checked = false;
  for (const button of $("downloads").children) {
    button.disabled = !state.shown || (button.dataset.to === "geojson" && !state.problem.mapped);
  }
  $("cost").textContent = state.shown ? number(state.shown.solution.cost) + (state.problem.metres ? " m" : "") : "–";
  redrawCurve();
}

// --- wiring ----------------------------------------------------------------------------------------------

$("open").addEventListener("click", () => $("file").click());
$("file").addEventListener("change", async (event) => {
  await openFiles(event.target.files);
  event.target.value = "";
});
addEventListener("dragover", (event) => {
  event.preventDefault();
  document.body.classList.add("dragging");
});
addEventListener("dragleave", (event) => {
  if (!event.relatedTarget) document.body.classList.remove("dragging");
});
addEventListener("drop", (event) => {
  event.preventDefault();
  document.body.classList.remove("dragging");
  openFiles(event.dataTransfer.files);
});
$("which").addEventListener("change", (event) => takeInstance(JSON.stringify(state.set[event.target.value])));
$("example-form").addEventListener("submit", generate);
$("draw").addEventListener("click", toggleEditor);
$("undo").addEventListener("click", () => editor.undo());
$("search-form").addEventListener("submit", solve);
$("stop").addEventListener("click", stop);
for (const choice of document.querySelectorAll("input[name=variant]")) choice.addEventListener("change", refresh);
$("compare").addEventListener("change", (event) => {
  state.compared = event.target.value === "" ? null : state.runs[event.target.value];
  showRuns();
});
for (const button of $("downloads").children) {
  button.addEventListener("click", () => attempt(() => download(button.dataset.to)));
}
$("zoom-in").addEventListener("click", () => map.zoom(1.5));
$("zoom-out").addEventListener("click", () => map.zoom(1 / 1.5));
$("zoom-fit").addEventListener("click", () => map.fit());
$("tiles").addEventListener("change", (event) => {
  map.tiles.on = event.target.checked;
  $("credit").textContent = event.target.checked ? state.about.tiles_credit : "";
  map.draw();
});
addEventListener("resize", redrawCurve);
onTokenNeeded(() => { $("token-form").hidden = false; });
$("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  setToken($("token").value);
  $("token-form").hidden = true;
  start();
});

async function start() {
  await attempt(async () => {
    state.about = await (await call("/v1/about")).json();
    map.tiles.template = state.about.tiles;
    $("seconds").max = state.about.max_seconds;
    $("seconds").value = Math.min(Number($("seconds").value), state.about.max_seconds);
    $("requests").max = Math.floor((state.about.max_nodes - 1) / 2);
  });
}

start();
