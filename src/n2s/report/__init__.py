"""A route as a person looks at it: a picture, or a page to step through."""

from n2s.report.figure import figure_bytes, route_figure
from n2s.report.page import route_page

__all__ = ["figure_bytes", "route_figure", "route_page"]
