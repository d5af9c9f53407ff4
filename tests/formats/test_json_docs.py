"""The examples of docs/json.md are instances."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from n2s.formats.base import Source
from n2s.formats.json_instance import FORMAT

PAGE = Path(__file__).parents[2] / "docs" / "json.md"
EXAMPLES = re.findall(r"```json\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_can_be_read(example: str) -> None:
    source = Source("example.json", example.encode())
    assert FORMAT.recognises(source)
    assert FORMAT.parse(source)[0].n >= 1
