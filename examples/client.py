"""Solve over HTTP with nothing but Python: n2s serve, then: python examples/client.py [ADDRESS]."""

import json
import sys
from urllib.request import Request, urlopen

address = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8000"
orders = [((1, 5), (4, 2)), ((2, 8), (7, 7)), ((9, 3), (3, 3))]
places = [[{"x": x, "y": y} for x, y in order] for order in orders]
requests = [{"pickup": pickup, "delivery": delivery} for pickup, delivery in places]
body = {"instance": {"depot": {"x": 0, "y": 0}, "requests": requests}, "seconds": 1}
with urlopen(Request(f"{address}/v1/solve", json.dumps(body).encode())) as answer:
    solution = json.load(answer)
print(round(solution["cost"], 3), " ".join(solution["route"]))
