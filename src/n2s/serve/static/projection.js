// From coordinates to the drawing and back. Plane: x and y as they are. Earth: Web Mercator, the one that tiles use.

const RADIUS = 6378137;
export const AROUND = 2 * Math.PI * RADIUS;
const HIGHEST = 85.05; // beyond this Mercator goes to infinity

const clamp = (value, low, high) => Math.min(high, Math.max(low, value));

export const plane = {
  geographic: false,
  forward: ([x, y]) => [x, -y],
  back: ([u, v]) => [u, -v],
};

// The whole world is the unit square.
export const mercator = {
  geographic: true,
  forward: ([lon, lat]) => {
    const phi = (clamp(lat, -HIGHEST, HIGHEST) * Math.PI) / 180;
    return [(lon + 180) / 360, (1 - Math.log(Math.tan(phi) + 1 / Math.cos(phi)) / Math.PI) / 2];
  },
  back: ([u, v]) => [u * 360 - 180, (Math.atan(Math.sinh(Math.PI * (1 - 2 * v))) * 180) / Math.PI],
};

// Where on the screen the drawing lies: pixels = scale * drawing + offset.
export class View {
  constructor() {
    Object.assign(this, { scale: 1, left: 0, top: 0 });
  }

  fit(spots, width, height, margin) {
    const [us, vs] = [spots.map(([u]) => u), spots.map(([, v]) => v)];
    const [west, east] = [least(us), most(us)];
    const [north, south] = [least(vs), most(vs)];
    const room = Math.min((width - 2 * margin) / (east - west || 1e-300), (height - 2 * margin) / (south - north || 1e-300));
    this.scale = room > 1e290 ? 1 : room;
    this.left = width / 2 - (this.scale * (west + east)) / 2;
    this.top = height / 2 - (this.scale * (north + south)) / 2;
  }

  zoom(factor, x, y) {
    this.scale *= factor;
    this.left = x - (x - this.left) * factor;
    this.top = y - (y - this.top) * factor;
  }

  pan(dx, dy) {
    this.left += dx;
    this.top += dy;
  }

  toScreen([u, v]) {
    return [this.scale * u + this.left, this.scale * v + this.top];
  }

  toDrawing([x, y]) {
    return [(x - this.left) / this.scale, (y - this.top) / this.scale];
  }
}

const least = (values) => values.reduce((a, b) => Math.min(a, b), Infinity);
const most = (values) => values.reduce((a, b) => Math.max(a, b), -Infinity);

// The largest of 1, 2, 5, 10, ... that is at most (or, with up, the smallest at least) the value.
export function nice(value, up = false) {
  const power = 10 ** Math.floor(Math.log10(value));
  const steps = [1, 2, 5, 10].map((step) => step * power);
  return up ? steps.find((step) => step >= value * (1 - 1e-9)) : steps.filter((step) => step <= value * (1 + 1e-9)).pop();
}

// Metres (on the Earth) or units (in the plane) that a pixel is, in the middle of the view.
export function unitsPerPixel(projection, view, width, height) {
  if (!projection.geographic) return 1 / view.scale;
  const [, lat] = projection.back(view.toDrawing([width / 2, height / 2]));
  return (AROUND * Math.cos((lat * Math.PI) / 180)) / view.scale;
}

export function length(units, geographic) {
  if (!geographic) return units.toLocaleString("en", { maximumSignificantDigits: 3 });
  return units >= 1000 ? `${(units / 1000).toLocaleString("en")} km` : `${units.toLocaleString("en")} m`;
}

// The grid: every so many degrees or units, lines at least `apart` pixels from each other.
export function grid(projection, view, width, height, apart) {
  const [west, north] = projection.back(view.toDrawing([0, 0]));
  const [east, south] = projection.back(view.toDrawing([width, height]));
  const step = nice(((east - west) / width) * apart, true);
  if (!(step > 0) || !Number.isFinite(step)) return [];
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const lines = [];
  const collect = (from, to, axis) => {
    for (let k = Math.ceil(from / step), n = 0; k * step <= to && n < 60; k += 1, n += 1) {
      const value = k === 0 ? 0 : k * step;
      const point = axis === 0 ? [value, north] : [west, value];
      lines.push({ axis, at: view.toScreen(projection.forward(point))[axis], label: label(value, axis, digits, projection) });
    }
  };
  collect(west, east, 0);
  collect(Math.min(south, north), Math.max(south, north), 1);
  return lines;
}

function label(value, axis, digits, projection) {
  if (!projection.geographic) return value.toLocaleString("en", { maximumFractionDigits: digits });
  const turned = axis === 0 ? ((((value + 180) % 360) + 360) % 360) - 180 : value;
  const side = axis === 0 ? (turned < 0 ? "W" : "E") : turned < 0 ? "S" : "N";
  return `${Math.abs(turned).toFixed(digits)}° ${side}`;
}
