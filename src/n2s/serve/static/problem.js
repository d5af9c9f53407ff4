// An instance as the page sees it: nodes with places, and the JSON text that is sent back as it came.

export function readProblem(text) {
  const body = JSON.parse(text);
  const metric = body.metric || ("lat" in (body.depot || {}) ? "great_circle" : "euclidean");
  const geographic = metric === "great_circle" || metric === "tsplib_geo";
  const place = (spot) => {
    if (!spot) return null;
    if ("lat" in spot) return [spot.lon, spot.lat];
    if (!("x" in spot)) return null;
    return metric === "tsplib_geo" ? [degrees(spot.y), degrees(spot.x)] : [spot.x, spot.y];
  };
  const nodes = [{ id: body.depot.id ?? "depot", kind: "depot", request: null, point: place(body.depot) }];
  for (const kind of ["pickup", "delivery"]) {
    body.requests.forEach((request, i) => {
      const id = request.id ?? i + 1;
      nodes.push({ id: request[kind].id ?? `${id}:${kind}`, kind, request: String(id), point: place(request[kind]) });
    });
  }
  const end = place(body.end);
  if (geographic) untear([...nodes, { point: end }]);
  return {
    text, nodes, geographic,
    name: body.name || "instance",
    variant: body.variant || "pdtsp",
    capacity: body.capacity ?? null,
    requests: body.requests.map((request, i) => String(request.id ?? i + 1)),
    end,
    endId: body.end ? String(body.end.id ?? "end") : null,
    openStart: Boolean(body.open_start),
    openEnd: Boolean(body.open_end),
    mapped: nodes.every((node) => node.point !== null),
    byId: new Map(nodes.map((node) => [String(node.id), node])),
    metres: geographic && metric === "great_circle",
  };
}

// TSPLIB writes 52 degrees 30 minutes as 52.30.
function degrees(value) {
  const whole = Math.trunc(value);
  return whole + (value - whole) / 0.6;
}

// A region across the date line is drawn in one piece.
function untear(nodes) {
  const known = nodes.filter((node) => node.point);
  const width = (values) => Math.max(...values) - Math.min(...values);
  const plain = known.map((node) => node.point[0]);
  const around = plain.map((lon) => ((lon % 360) + 360) % 360);
  if (known.length && width(around) < width(plain)) known.forEach((node, i) => { node.point[0] = around[i]; });
}

// The places along a route of ids; the end may be a place of its own.
export function pointsOf(problem, route) {
  return route.map((id, k) => {
    const last = k === route.length - 1 && k > 0;
    if (last && problem.end && String(id) === problem.endId) return problem.end;
    const node = problem.byId.get(String(id));
    return node ? node.point : null;
  });
}

// What was drawn by hand, as an instance.
export function drawn(depot, pairs, geographic) {
  const spot = ([x, y]) => (geographic ? { lat: round(y, 6), lon: round(x, 6) } : { x: round(x, 3), y: round(y, 3) });
  return JSON.stringify({
    name: "drawn", depot: spot(depot),
    requests: pairs.map(([pickup, delivery]) => ({ pickup: spot(pickup), delivery: spot(delivery) })),
  });
}

const round = (value, digits) => Number(value.toFixed(digits));

// The unit square of an example as a city of a few kilometres, so that a map has something to show.
export function asCity(text, [lat, lon] = [48.2082, 16.3738], degreesHigh = 0.09) {
  const body = JSON.parse(text);
  const wide = degreesHigh / Math.cos((lat * Math.PI) / 180);
  const spot = ({ x, y, ...rest }) => ({
    ...rest, lat: round(lat + (y - 0.5) * degreesHigh, 5), lon: round(lon + (x - 0.5) * wide, 5),
  });
  return JSON.stringify({
    ...body, name: body.name.replace(/^\w+/, "city"), metric: "great_circle", depot: spot(body.depot),
    requests: body.requests.map((request) => ({ ...request, pickup: spot(request.pickup), delivery: spot(request.delivery) })),
  });
}
