// Stepping through the stops of a solution: where, what, how far, what is on board.

import { $, make, number, shape } from "./dom.js";

const MOST_ROWS = 2100;

export class Steps {
  constructor({ moved }) {
    this.moved = moved; // (index, index of the request's other stop or -1)
    this.timer = null;
    this.clear();
    const moves = {
      first: () => this.go(0),
      back: () => this.go(this.current - 1),
      next: () => this.go(this.current + 1),
      last: () => this.go(this.stops.length - 1),
      play: () => this.play(this.timer === null),
    };
    for (const [id, action] of Object.entries(moves)) $(id).addEventListener("click", action);
    $("slider").addEventListener("input", (event) => this.go(Number(event.target.value)));
    const keys = { ArrowLeft: "back", ArrowRight: "next", Home: "first", End: "last" };
    document.addEventListener("keydown", (event) => {
      const typing = event.target.closest("input, select, textarea, summary, .scroll");
      if (typing || event.altKey || event.ctrlKey || event.metaKey || !Object.hasOwn(keys, event.key)) return;
      if (!this.stops.length) return;
      event.preventDefault();
      moves[keys[event.key]]();
    });
    addEventListener("resize", () => this.drawLoad());
  }

  clear() {
    this.play(false);
    Object.assign(this, { stops: [], current: -1, rows: [], solution: null, problem: null, colours: new Map() });
    for (const id of ["stop-card", "load-card", "table-card"]) $(id).hidden = true;
    for (const id of ["first", "back", "next", "last", "play", "slider"]) $(id).disabled = true;
    $("count").textContent = $("here").textContent = "";
  }

  show(solution, problem, colours) {
    this.clear();
    Object.assign(this, { solution, problem, colours, stops: solution.stops });
    if (!this.stops.length) return;
    for (const id of ["stop-card", "load-card", "table-card"]) $(id).hidden = false;
    for (const id of ["play", "slider"]) $(id).disabled = false;
    $("slider").max = this.stops.length - 1;
    this.visits = new Map(this.stops.map((stop, k) => [`${stop.kind} ${stop.request}`, k]));
    this.writeRows();
    this.go(0, false);
  }

  colour(request) {
    return this.colours.get(String(request)) || "var(--text)";
  }

  partner(k) {
    const stop = this.stops[k];
    if (stop.request === null) return -1;
    return this.visits.get(`${stop.kind === "pickup" ? "delivery" : "pickup"} ${stop.request}`) ?? -1;
  }

  go(k, tell = true) {
    if (!this.stops.length) return;
    if (this.current >= 0 && this.rows[this.current]) this.rows[this.current].removeAttribute("aria-current");
    this.current = Math.max(0, Math.min(this.stops.length - 1, k));
    const stop = this.stops[this.current];
    $("slider").value = this.current;
    $("slider").setAttribute("aria-valuetext", `stop ${stop.position}, ${stop.id ?? ""}`);
    $("count").textContent = `${this.current + 1} / ${this.stops.length}`;
    for (const id of ["first", "back"]) $(id).disabled = this.current === 0;
    for (const id of ["next", "last"]) $(id).disabled = this.current === this.stops.length - 1;
    const row = this.rows[this.current];
    if (row) {
      row.setAttribute("aria-current", "true");
      const box = row.closest(".scroll");
      box.scrollTop = Math.max(0, row.offsetTop - box.clientHeight / 2);
    }
    this.describe(stop);
    this.drawLoad();
    this.drawPile(stop);
    if (tell) this.moved(this.current, this.partner(this.current));
  }

  play(on) {
    clearInterval(this.timer);
    this.timer = null;
    if (on) {
      if (this.current === this.stops.length - 1) this.go(0);
      this.timer = setInterval(() => {
        this.go(this.current + 1);
        if (this.current === this.stops.length - 1) this.play(false);
      }, Math.max(60, Math.min(700, 30000 / this.stops.length)));
    }
    $("play").textContent = on ? "⏸\uFE0E" : "▶\uFE0E";
    $("play").setAttribute("aria-label", on ? "Pause" : "Play");
  }

  describe(stop) {
    $("stop-name").textContent = stop.id ?? stop.kind;
    $("here").textContent = `stop ${stop.position}: ${stop.id ?? ""} (${stop.kind}), load ${number(stop.load)}`;
    $("stop-kind").replaceChildren();
    if (stop.request !== null) {
      const swatch = make("span", "", "swatch");
      swatch.style.background = this.colour(stop.request);
      $("stop-kind").append(swatch);
    }
    $("stop-kind").append(stop.kind + (stop.request === null ? "" : ` of request ${stop.request}`));
    const lines = [["position", String(stop.position)]];
    const other = this.partner(this.current);
    if (other >= 0) lines.push([stop.kind === "pickup" ? "delivered at" : "picked up at", String(this.stops[other].position)]);
    lines.push(["leg", number(stop.leg)], ["so far", number(stop.cumulative)], ["load", number(stop.load)]);
    $("details").replaceChildren(...lines.flatMap(([key, value]) => [make("dt", key), make("dd", value)]));
  }

  drawLoad() {
    const svg = $("load");
    const { clientWidth: width, clientHeight: height } = svg;
    svg.replaceChildren();
    if (!this.stops.length || !width) return;
    const limit = this.problem.capacity;
    const highest = this.stops.reduce((most, stop) => Math.max(most, stop.load), limit ?? 0) || 1;
    const x = (k) => 1 + (k / this.stops.length) * (width - 2);
    const y = (load) => height - 2 - (load / highest) * (height - 8);
    let d = `M${x(0)} ${y(0)}`;
    this.stops.forEach((stop, k) => { d += `V${y(stop.load).toFixed(1)}H${x(k + 1).toFixed(1)}`; });
    shape(svg, "path", { class: "area", d: `${d}V${y(0)}Z` });
    if (limit !== null) shape(svg, "line", { class: "limit", x1: 0, x2: width, y1: y(limit), y2: y(limit) });
    const middle = x(this.current + 0.5);
    shape(svg, "line", { class: "cursor", x1: middle, x2: middle, y1: 0, y2: height });
    const of = limit === null ? "" : ` of ${number(limit)}`;
    $("load-title").textContent = `Load ${number(this.stops[this.current].load)}${of}`;
  }

  drawPile(stop) {
    const ordered = this.solution.variant !== "pdtsp";
    $("pile-box").hidden = !ordered;
    if (!ordered) return;
    // Beyond 1,000 nodes only depth and top are told.
    const stack = stop.stack ?? (stop.top === null || stop.top === undefined ? [] : [stop.top]);
    const depth = stop.depth ?? stack.length;
    $("pile-title").textContent = depth ? `Stack ${depth} high, top ${stack[stack.length - 1]}` : "Stack empty";
    const room = $("pile").clientHeight / Math.max(1, stack.length);
    $("pile").replaceChildren(...stack.map((request) => {
      const block = make("div", room >= 14 ? String(request) : "");
      block.style.background = this.colour(request);
      block.title = request;
      return block;
    }));
    if (!stack.length) $("pile").append(make("p", "empty"));
  }

  writeRows() {
    const rows = this.stops.slice(0, MOST_ROWS).map((stop, k) => {
      const row = make("tr");
      for (const [text, left] of [[String(stop.position)], [stop.id ?? "", true], [stop.kind, true],
        [number(stop.leg)], [number(stop.cumulative)], [number(stop.load)]]) {
        const cell = make("td", text, left ? "left" : "");
        if (left) cell.title = text;
        row.append(cell);
      }
      row.addEventListener("click", () => this.go(k));
      return row;
    });
    $("rows").replaceChildren(...rows);
    this.rows = rows;
  }
}
