"""Make the benchmark tables of docs/benchmarks.md: run the benches, then put their reports into the page.

Each section is one ``n2s bench`` command and the report of its folder. The benches are resumable: stopped
at any moment, the same command goes on. What stands outside the two marks in the page stays as it is, and
so do sections whose runs are not here.

Run: ``python benchmarks/make_tables.py``. With ``--tiny`` everything is so small that it takes minutes, and
goes into a page beside its runs; ``--only NAME`` runs some sections, ``--no-run`` none of them.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "benchmarks.md"
BEGIN = "<!-- made by benchmarks/make_tables.py: begin -->"
END = "<!-- made by benchmarks/make_tables.py: end -->"
DATA = "../shared/data"
N2S = Path(sys.executable).parent / "n2s"


@dataclass(frozen=True)
class Section:
    """One bench of the page."""

    name: str
    title: str
    why: str
    bench: str
    """Arguments of ``n2s bench`` without its scale."""
    scale: str
    tiny: str
    reference: str = ""


SECTIONS = (
    Section(
        "uniform",
        "Uniform instances",
        "Everybody gets the same seconds of wall clock on one core. A dash is a problem that the solver "
        "cannot express.",
        "uniform --variant pdtsp --variant lifo --nodes 21,51,101 "
        "--methods auto,n2s-a,lkh,hgs,ruin-recreate,ortools,vroom,pyvrp",
        "--count 5 --seconds 5",
        "--count 1 --seconds 1",
    ),
    Section(
        "files",
        "Benchmark files",
        "Public instances with published values: `sol` are routes beside the instances (optimal for "
        "rbo00), `B2` the averages of Li and others (2011).",
        f"files {DATA} --methods auto,lkh,hgs,ortools",
        "--seconds 5",
        "--seconds 1 --count 1",
        "sol,B2",
    ),
    Section(
        "paper",
        "Tables 1 and 2 of the paper",
        "Budgets in steps, as the paper has them, on fewer instances.",
        "paper",
        "--count 2",
        "--count 1 --nodes 7 --methods lkh:20,n2s:20,n2s-a:20",
    ),
    Section(
        "ablation",
        "Tables 5 and 6 of the paper",
        "Rows that need no training, or whose checkpoint is shipped.",
        "ablation",
        "--count 5",
        "--count 1 --nodes 7 --methods lkh:20,n2s:20@random,n2s:20@epsilon-greedy",
    ),
    Section(
        "generalization",
        "Generalization",
        "Average and best of several runs with different seeds on instances unlike those of training.",
        f"generalization {DATA}",
        "--seeds 1-3 --count 3",
        "--seeds 1-2 --count 1 --methods n2s-a:20,auto:1s",
        "sol,B2",
    ),
    Section(
        "speed",
        "Speed of our methods",
        "",
        "speed",
        "--seconds 10",
        "--seconds 4 --nodes 7",
    ),
)


def bench(section: Section, tiny: bool, folder: Path) -> list[str]:
    """The command of a section."""
    scale = section.tiny if tiny else section.scale
    arguments = shlex.split(f"{section.bench} {scale} --out {shlex.quote(str(folder))}")
    return [str(N2S), "bench", *arguments]


def text(section: Section, folder: Path) -> str:
    """A section of the page: its title, and the report of its folder."""
    reference = ["--reference", section.reference] if section.reference else []
    report = subprocess.run(
        [str(N2S), "report", str(folder), *reference],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        cwd=ROOT,
    ).stdout
    return "\n\n".join(part for part in (f"## {section.title}", section.why, report) if part)


def page(old: str, made: str) -> str:
    """The page with what lies between its marks replaced."""
    before, begin, rest = old.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{PAGE.name} has lost the marks between which the tables go")
    return f"{before}{BEGIN}\n\n{made.rstrip()}\n\n{END}{after}"


def kept(old: str, section: Section) -> str:
    """A section as it stands in the page, empty if it does not."""
    made = old.partition(BEGIN)[2].partition(END)[0]
    _, title, rest = f"\n{made}".partition(f"\n## {section.title}\n")
    body, _, _ = rest.partition("\n## ")
    return f"{title}{body}".strip() + "\n" if title else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--no-run", action="store_true")
    parser.add_argument("--only", nargs="+", choices=[section.name for section in SECTIONS])
    options = parser.parse_args()
    runs = Path("runs") / ("docs-tiny" if options.tiny else "docs")
    if not options.no_run:
        for section in SECTIONS:
            if options.only is None or section.name in options.only:
                command = bench(section, options.tiny, runs / section.name)
                print(shlex.join(["n2s", *command[1:]]), file=sys.stderr, flush=True)
                subprocess.run(command, stdout=subprocess.DEVNULL, check=True, cwd=ROOT)
    old = PAGE.read_text()
    there = {s for s in SECTIONS if (ROOT / runs / s.name / "runs.jsonl").exists()}
    before = "" if options.tiny else old
    made = [text(s, runs / s.name) if s in there else kept(before, s) for s in SECTIONS]
    target = ROOT / runs / "benchmarks.md" if options.tiny else PAGE
    target.write_text(page(old, "\n".join(filter(None, made))))
    print(target)


if __name__ == "__main__":
    main()
