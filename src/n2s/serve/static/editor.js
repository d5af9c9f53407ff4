// Drawing an instance: the depot first, then pickup and delivery in turn.

import { drawn } from "./problem.js";
import { palette } from "./colours.js";

export class Editor {
  constructor(map, { hint, changed }) {
    this.map = map;
    this.hint = hint;
    this.changed = changed; // (text of an instance)
    this.reset(false);
  }

  reset(geographic) {
    Object.assign(this, { depot: null, pairs: [], open: null, geographic });
  }

  get active() {
    return this.map.onPoint !== null;
  }

  get empty() {
    return this.depot === null;
  }

  start() {
    this.map.onPoint = (point) => this.put(this.inside(point));
    this.map.canvas.classList.add("drawing");
    this.tell();
  }

  stop() {
    this.map.onPoint = null;
    this.map.cross = null;
    this.map.canvas.classList.remove("drawing");
    this.map.pending = [];
    this.map.draw();
  }

  inside([x, y]) {
    if (!this.geographic) return [x, y];
    return [((((x + 180) % 360) + 360) % 360) - 180, y];
  }

  put(point) {
    if (this.depot === null) this.depot = point;
    else if (this.open === null) this.open = point;
    else {
      this.pairs.push([this.open, point]);
      this.open = null;
    }
    this.refresh();
  }

  undo() {
    if (this.open !== null) this.open = null;
    else if (this.pairs.length) [this.open] = this.pairs.pop();
    else this.depot = null;
    this.refresh();
  }

  refresh() {
    if (this.pairs.length && this.open === null) this.changed(drawn(this.depot, this.pairs, this.geographic));
    const colours = [...palette(this.pairs.concat([0]).map((_, i) => i)).values()];
    const pending = this.depot ? [{ kind: "depot", point: this.depot }] : [];
    this.pairs.forEach(([pickup, delivery], i) => {
      pending.push({ kind: "pickup", point: pickup, colour: colours[i] }, { kind: "delivery", point: delivery, colour: colours[i] });
    });
    if (this.open) pending.push({ kind: "pickup", point: this.open, colour: colours[this.pairs.length] });
    this.map.pending = pending;
    this.map.draw();
    this.tell();
  }

  tell() {
    const next = this.depot === null ? "Click where the vehicle starts." : this.open === null
      ? `Request ${this.pairs.length + 1}: click its pickup.` : `Request ${this.pairs.length + 1}: click its delivery.`;
    this.hint(next);
  }
}
