// The map: grid, tiles if wanted, routes and stops, on a canvas.

import { theme } from "./colours.js";
import { View, grid, length, mercator, nice, plane, unitsPerPixel } from "./projection.js";
import { pointsOf } from "./problem.js";

const EMPTY = [[0, 0], [100, 100]];
const MARGIN = 36;
const TILE = 256;
const MOST_TILES = 300;

export class MapView {
  constructor(canvas) {
    this.canvas = canvas;
    this.view = new View();
    this.projection = plane;
    this.tiles = { template: "", on: false, images: new Map() };
    this.clear();
    this.onPoint = null; // (coordinates) while drawing
    this.onStop = () => {}; // (index in the route)
    this.cross = null;
    this.pending = [];
    this.width = this.height = 0;
    new ResizeObserver(() => this.resize()).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    this.listen();
  }

  clear() {
    Object.assign(this, { problem: null, colours: new Map(), route: [], ghost: [], stops: [], current: -1, live: false });
  }

  // --- what is shown ------------------------------------------------------------------------------

  show(problem, colours) {
    this.clear();
    this.problem = problem;
    this.colours = colours;
    this.projection = problem && problem.geographic ? mercator : plane;
    this.fit();
  }

  setRoute(route, live = false) {
    this.route = route ? pointsOf(this.problem, route) : [];
    this.ids = route || [];
    this.live = live;
    this.current = -1;
    this.draw();
  }

  setGhost(route) {
    this.ghost = route ? pointsOf(this.problem, route) : [];
    this.draw();
  }

  setCurrent(index, partner) {
    this.current = index;
    this.partner = partner;
    this.draw();
  }

  fit() {
    const known = this.problem && this.problem.mapped ? this.problem.nodes.map((node) => node.point) : EMPTY;
    const points = this.problem && this.problem.mapped && this.problem.end ? [...known, this.problem.end] : known;
    this.view.fit(points.map(this.projection.forward), this.width, this.height, MARGIN);
    this.draw();
  }

  zoom(factor) {
    this.view.zoom(factor, this.width / 2, this.height / 2);
    this.draw();
  }

  resize() {
    const box = this.canvas.getBoundingClientRect();
    if (!box.width || !box.height) return;
    const ratio = devicePixelRatio || 1;
    const before = [this.width, this.height];
    [this.width, this.height] = [box.width, box.height];
    this.canvas.width = Math.round(box.width * ratio);
    this.canvas.height = Math.round(box.height * ratio);
    if (before[0] !== this.width || before[1] !== this.height) this.fit();
    else this.draw();
  }

  at(point) {
    return this.view.toScreen(this.projection.forward(point));
  }

  coordinates(spot) {
    return this.projection.back(this.view.toDrawing(spot));
  }

  // --- drawing ---------------------------------------------------------------------------------------

  draw() {
    if (!this.width || this.due) return;
    this.due = requestAnimationFrame(() => {
      this.due = null;
      this.paint();
    });
  }

  paint() {
    const pen = this.canvas.getContext("2d");
    const ratio = this.canvas.width / this.width;
    this.paints = theme();
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, this.width, this.height);
    const mapped = !this.problem || this.problem.mapped;
    if (!mapped) return;
    if (this.tiles.on && this.projection.geographic) this.paintTiles(pen);
    this.paintGrid(pen);
    if (this.problem) {
      this.paintLine(pen, this.ghost, this.paints.ghost, 2, [6, 5]);
      this.paintRoute(pen);
      this.paintNodes(pen);
    }
    this.paintPending(pen);
    this.paintScale(pen);
    this.describe();
  }

  // What can be seen, for those who cannot see it.
  describe() {
    const kind = this.projection.geographic ? "Map in Web Mercator" : "Map of the plane";
    const stops = this.problem ? `, ${this.problem.nodes.length - 1} stops` : ", empty";
    const route = this.route.length ? ` and a route of ${this.route.length} places` : "";
    const label = `${kind}${stops}${route}; the scale bar is ${this.scaleLabel}`;
    if (this.canvas.getAttribute("aria-label") !== label) this.canvas.setAttribute("aria-label", label);
  }

  paintGrid(pen) {
    pen.lineWidth = 1;
    pen.font = "11px system-ui, sans-serif";
    const lines = grid(this.projection, this.view, this.width, this.height, 90);
    pen.strokeStyle = this.tiles.on ? "rgb(127 127 127 / .35)" : this.paints.grid;
    pen.beginPath();
    for (const { axis, at } of lines) {
      const spot = Math.round(at) + 0.5;
      pen.moveTo(axis === 0 ? spot : 0, axis === 0 ? 0 : spot);
      pen.lineTo(axis === 0 ? spot : this.width, axis === 0 ? this.height : spot);
    }
    pen.stroke();
    pen.fillStyle = this.paints.quiet;
    for (const { axis, at, label } of lines) {
      if (axis === 0 && at > 60 && at < this.width - 60) {
        pen.textAlign = "center";
        pen.fillText(label, at, 13);
      } else if (axis === 1 && at > 24 && at < this.height - 40) {
        pen.textAlign = "left";
        pen.fillText(label, 4, at - 4);
      }
    }
  }

  paintScale(pen) {
    const per = unitsPerPixel(this.projection, this.view, this.width, this.height);
    const units = nice(per * 140);
    const wide = units / per;
    if (!Number.isFinite(wide) || wide < 8) return;
    const [x, y] = [12, this.height - 12];
    pen.strokeStyle = pen.fillStyle = this.paints.text;
    pen.lineWidth = 1.5;
    pen.beginPath();
    pen.moveTo(x, y - 5);
    pen.lineTo(x, y);
    pen.lineTo(x + wide, y);
    pen.lineTo(x + wide, y - 5);
    pen.stroke();
    pen.textAlign = "left";
    this.scaleLabel = length(units, this.projection.geographic);
    pen.fillText(this.scaleLabel, x + 5, y - 5);
  }

  paintTiles(pen) {
    const zoom = Math.max(0, Math.min(19, Math.round(Math.log2(this.view.scale / TILE))));
    const count = 2 ** zoom;
    const size = this.view.scale / count;
    if (size < 16) return; // the world itself is a speck: there would be thousands of it
    const [u, v] = this.view.toDrawing([0, 0]);
    const [first, top] = [Math.floor(u * count), Math.max(0, Math.floor(v * count))];
    for (let x = first; x * size + this.view.left < this.width; x += 1) {
      for (let y = top; y < count && y * size + this.view.top < this.height; y += 1) {
        const image = this.tile(zoom, ((x % count) + count) % count, y);
        if (image.complete && image.naturalWidth) {
          pen.drawImage(image, x * size + this.view.left, y * size + this.view.top, size + 0.5, size + 0.5);
        }
      }
    }
  }

  tile(z, x, y) {
    const key = `${z}/${x}/${y}`;
    const { images, template } = this.tiles;
    let image = images.get(key);
    if (!image) {
      image = new Image();
      image.addEventListener("load", () => this.draw());
      image.src = template.replace("{z}", z).replace("{x}", x).replace("{y}", y);
      images.set(key, image);
      if (images.size > MOST_TILES) images.delete(images.keys().next().value);
    }
    return image;
  }

  paintLine(pen, points, colour, width, dashes = []) {
    const spots = points.filter(Boolean).map((point) => this.at(point));
    if (spots.length < 2) return [];
    pen.strokeStyle = colour;
    pen.lineWidth = width;
    pen.lineJoin = "round";
    pen.setLineDash(dashes);
    pen.beginPath();
    spots.forEach(([x, y], k) => (k ? pen.lineTo(x, y) : pen.moveTo(x, y)));
    pen.stroke();
    pen.setLineDash([]);
    return spots;
  }

  paintRoute(pen) {
    const stepping = this.current >= 0;
    const colour = stepping ? this.paints.track : this.paints.accent;
    const thick = this.route.length > 400 ? 1.2 : 2;
    const spots = this.paintLine(pen, this.route, colour, thick);
    if (stepping) this.paintLine(pen, this.route.slice(0, this.current + 1), this.paints.accent, thick + 1);
    if (this.route.length <= 400) this.paintArrows(pen, spots, stepping ? this.paints.quiet : this.paints.accent);
  }

  paintArrows(pen, spots, colour) {
    pen.fillStyle = colour;
    for (let k = 1; k < spots.length; k += 1) {
      const [[ax, ay], [bx, by]] = [spots[k - 1], spots[k]];
      const far = Math.hypot(bx - ax, by - ay);
      if (far < 26) continue;
      const [ux, uy] = [(bx - ax) / far, (by - ay) / far];
      const [x, y] = [(ax + bx) / 2, (ay + by) / 2];
      pen.beginPath();
      pen.moveTo(x + 6 * ux, y + 6 * uy);
      pen.lineTo(x - 4 * ux - 4 * uy, y - 4 * uy + 4 * ux);
      pen.lineTo(x - 4 * ux + 4 * uy, y - 4 * uy - 4 * ux);
      pen.fill();
    }
  }

  paintNodes(pen) {
    const { nodes } = this.problem;
    const radius = Math.max(3, Math.min(8, 75 / Math.sqrt(nodes.length), this.width / 55));
    if (!this.route.length && nodes.length <= 120) this.paintPairs(pen, nodes);
    for (const node of nodes.slice(1)) this.marker(pen, node.kind, this.at(node.point), radius, this.colours.get(node.request));
    if (!(this.problem.openStart && this.problem.openEnd)) {
      this.marker(pen, "depot", this.at(nodes[0].point), Math.max(6, radius), this.paints.text);
    }
    if (this.problem.end) this.marker(pen, "depot", this.at(this.problem.end), Math.max(5, radius), this.paints.quiet);
    if (this.current < 0) return;
    const ring = (point, dashes, extra) => {
      if (!point) return;
      const [x, y] = this.at(point);
      pen.strokeStyle = this.paints.text;
      pen.lineWidth = 2;
      pen.setLineDash(dashes);
      pen.beginPath();
      pen.arc(x, y, radius + extra, 0, 7);
      pen.stroke();
      pen.setLineDash([]);
    };
    const [here, other] = [this.route[this.current], this.route[this.partner]];
    if (here && other) this.paintLine(pen, [here, other], this.paints.text, 1.2, [4, 4]);
    ring(here, [], 6);
    ring(other, [3, 3], 5);
  }

  // Which delivery belongs to which pickup, while there is no route to look at.
  paintPairs(pen, nodes) {
    const half = (nodes.length - 1) / 2;
    pen.globalAlpha = 0.45;
    for (let i = 1; i <= half; i += 1) {
      this.paintLine(pen, [nodes[i].point, nodes[i + half].point], this.colours.get(nodes[i].request), 1.2, [3, 4]);
    }
    pen.globalAlpha = 1;
  }

  paintPending(pen) {
    for (const { kind, point, colour } of this.pending) this.marker(pen, kind, this.at(point), 7, colour || this.paints.text);
    if (!this.cross) return;
    const [x, y] = this.cross;
    pen.strokeStyle = this.paints.accent;
    pen.lineWidth = 1.5;
    pen.beginPath();
    pen.moveTo(x - 12, y);
    pen.lineTo(x + 12, y);
    pen.moveTo(x, y - 12);
    pen.lineTo(x, y + 12);
    pen.stroke();
  }

  marker(pen, kind, [x, y], r, colour) {
    const corners = {
      pickup: [[0, -1.1], [1, 0.75], [-1, 0.75]],
      delivery: [[0, 1.1], [1, -0.75], [-1, -0.75]],
    }[kind] || [[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]];
    pen.beginPath();
    corners.forEach(([a, b], k) => (k ? pen.lineTo(x + r * a, y + r * b) : pen.moveTo(x + r * a, y + r * b)));
    pen.closePath();
    pen.fillStyle = colour;
    pen.fill();
    pen.strokeStyle = this.paints.map;
    pen.lineWidth = 1;
    pen.stroke();
  }

  // --- pointer and keys --------------------------------------------------------------------------------

  listen() {
    const { canvas } = this;
    const fingers = new Map();
    let moved = 0;
    const spot = (event) => [event.offsetX, event.offsetY];
    canvas.addEventListener("pointerdown", (event) => {
      fingers.set(event.pointerId, spot(event));
      moved = 0;
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      const before = fingers.get(event.pointerId);
      if (!before) return;
      const now = spot(event);
      moved += Math.hypot(now[0] - before[0], now[1] - before[1]);
      if (fingers.size === 1 && moved > 4) this.view.pan(now[0] - before[0], now[1] - before[1]);
      if (fingers.size === 2) {
        const [other] = [...fingers].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
        const apart = (place) => Math.hypot(place[0] - other[0], place[1] - other[1]) || 1;
        this.view.zoom(apart(now) / apart(before), other[0], other[1]);
      }
      fingers.set(event.pointerId, now);
      this.draw();
    });
    const lift = (event) => {
      if (fingers.delete(event.pointerId) && event.type === "pointerup" && moved <= 4) this.click(spot(event));
    };
    canvas.addEventListener("pointerup", lift);
    canvas.addEventListener("pointercancel", lift);
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.view.zoom(Math.exp(-event.deltaY / 400), event.offsetX, event.offsetY);
      this.draw();
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("blur", () => {
      this.cross = null;
      this.draw();
    });
  }

  click(spot) {
    if (this.onPoint) {
      this.onPoint(this.coordinates(spot));
      return;
    }
    let nearest = [20, -1];
    this.route.forEach((point, k) => {
      if (!point) return;
      const [x, y] = this.at(point);
      const far = Math.hypot(x - spot[0], y - spot[1]);
      if (far < nearest[0]) nearest = [far, k];
    });
    if (nearest[1] >= 0) this.onStop(nearest[1]);
  }

  key(event) {
    if (!this.onPoint) return;
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (Object.hasOwn(steps, event.key)) {
      const by = event.shiftKey ? 2 : 14;
      const [x, y] = this.cross || [this.width / 2, this.height / 2];
      const [dx, dy] = steps[event.key];
      this.cross = [Math.min(this.width, Math.max(0, x + by * dx)), Math.min(this.height, Math.max(0, y + by * dy))];
    } else if ((event.key === "Enter" || event.key === " ") && this.cross) {
      this.onPoint(this.coordinates(this.cross));
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    this.draw();
  }
}
