// One colour per request, the same as in pictures and pages of the package (report/palette.py).

const GOLDEN = 0.618033988749895;
const LIGHTNESS = [0.46, 0.6, 0.36];

export function palette(requests) {
  return new Map(requests.map((request, i) => {
    const hue = (0.58 + i * GOLDEN) % 1;
    const light = LIGHTNESS[Math.floor(i / 12) % LIGHTNESS.length];
    return [request, `hsl(${(360 * hue).toFixed(1)} 68% ${100 * light}%)`];
  }));
}

// The theme's own colours, for canvases.
export function theme() {
  const style = getComputedStyle(document.documentElement);
  return new Proxy({}, { get: (_, name) => style.getPropertyValue(`--${name}`).trim() });
}
