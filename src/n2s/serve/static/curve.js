// Best cost over time, and the run it is compared with.

import { number, shape } from "./dom.js";

export function drawCurve(svg, points, ghost, span) {
  svg.replaceChildren();
  const { clientWidth: width, clientHeight: height } = svg;
  if (!points.length || !width) return;
  const all = [...points, ...ghost];
  const [low, high] = [Math.min(...all.map((p) => p.best)), Math.max(...all.map((p) => p.best))];
  const end = Math.max(span, ...all.map((p) => p.seconds), 1e-9);
  const x = (seconds) => 2 + (seconds / end) * (width - 10);
  const y = (best) => 20 + ((high - best) / (high - low || 1)) * (height - 44);
  const path = (course) => {
    let d = "";
    for (const { seconds, best } of course) {
      d += d ? `H${x(seconds).toFixed(1)}V${y(best).toFixed(1)}` : `M${x(seconds).toFixed(1)} ${y(best).toFixed(1)}`;
    }
    return d;
  };
  shape(svg, "line", { class: "axis", x1: 0, x2: width, y1: height - 16, y2: height - 16 });
  if (ghost.length) shape(svg, "path", { class: "ghost", d: path(ghost) });
  shape(svg, "path", { class: "best", d: path(points) });
  const last = points[points.length - 1];
  shape(svg, "circle", { class: "dot", cx: x(last.seconds), cy: y(last.best), r: 3.5 });
  shape(svg, "text", { x: 2, y: 12 }, number(points[0].best));
  shape(svg, "text", { x: 2, y: height - 3 }, "0 s");
  shape(svg, "text", { x: width - 2, y: height - 3, "text-anchor": "end" }, `${end.toLocaleString("en", { maximumSignificantDigits: 3 })} s`);
}
