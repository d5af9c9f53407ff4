from __future__ import annotations

from pathlib import Path

from n2s.kernels.cache import drop_stale


def test_an_edited_source_empties_the_cache_and_an_untouched_one_keeps_it(tmp_path: Path) -> None:
    (tmp_path / "rules.py").write_text("a = 1\n")
    assert drop_stale(tmp_path)
    compiled = tmp_path / "__pycache__" / "reinsertion.nbi"
    compiled.write_text("machine code")
    assert not drop_stale(tmp_path)
    assert compiled.exists()
    (tmp_path / "rules.py").write_text("a = 2\n")
    assert drop_stale(tmp_path)
    assert not compiled.exists()
