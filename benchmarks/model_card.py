"""The card of a trained policy: where it comes from and how good it is, as Markdown.

Everything in it is read from the checkpoint, the run's folder and what ``policy_quality.py`` printed.

Run: ``python benchmarks/model_card.py RUN/best.safetensors --runs RUN... [--prior RUN] --quality FILE...
-o CARD.md``; the prior's run is that of ``n2s evolve``, or its policy file alone, without a curve. A
quality file may hold any of the sizes.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from pathlib import Path
from typing import Any

from hardware import hardware

from n2s.evolve.trainer import POLICY_FILE
from n2s.model import Checkpoint, load
from n2s.model.prior_policy import prior_alone
from n2s.native import load as load_native
from n2s.train.metrics import read_metrics

LOOKS = 5
"""Validations of an evolution that one row of its table is the mean of."""


def facts(checkpoint: Checkpoint, path: Path) -> list[str]:
    """How it came to be."""
    record: dict[str, Any] = dict(checkpoint.record)
    config = record["config"]
    data, validation = config["data"], config["validation"]
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True
    ).stdout.strip()
    rows = {
        "file": f"`{path.name}`, sha256 `{checkpoint.sha256}`",
        "variant": checkpoint.variant.value,
        "sizes": ", ".join(f"N = {size}" for size in checkpoint.sizes),
        "network": f"D = {config['policy']['width']}, {config['policy']['layers']} layers, "
        f"{checkpoint.policy.count_parameters():,} weights, "
        f"costs = {str(config['policy']['costs']).lower()}, prior = {config['policy']['prior']}",
        "what it adds to the prior": said(checkpoint),
        "preset": f"`presets/{record['preset']}.toml`",
        "begun with": record["from"] or "fresh weights",
        "teacher": record.get("teacher") or "none",
        "seeds": f"{data['seed']} (training), {validation['seed']} (validation)",
        "epochs, updates": f"{record['epochs']}, {record['updates']:,}",
        "transitions": f"{record['transitions']:,}",
        "hours": f"{record['hours']:.2f}, {record['processes']} process(es)",
        "machine of this card": hardware(),
        "commit of this card": commit,
    }
    return ["| | |", "| --- | --- |", *(f"| {name} | {value} |" for name, value in rows.items())]


def said(checkpoint: Checkpoint) -> str:
    """Whether the network has a say beside its prior."""
    if checkpoint.record["config"]["policy"]["prior"] != "native":
        return "there is no native prior"
    silent = prior_alone(checkpoint.policy) is not None
    return "nothing: its last layers are zeros" if silent else "scores of its own"


def curve(runs: list[Path]) -> list[str]:
    """Validations, one run after the other."""
    lines = []
    for run in runs:
        rows = [line for line in read_metrics(run) if line["kind"] == "validation"]
        sizes = sorted({int(name[4:]) for row in rows for name in row if name.startswith("gap_")})
        lines += [
            f"Run `{run.name}`, mean gap to the best known of the run:",
            "",
            f"| hours | transitions | {' | '.join(f'N = {size}' for size in sizes)} |",
            f"| --- | --- | {' | '.join('---' for _ in sizes)} |",
        ]
        # Gaps are to what was known when they were written: made comparable by the costs.
        last = rows[-1]
        best = {size: last[f"cost_{size}"] / (1 + last[f"gap_{size}"]) for size in sizes}
        for row in rows:
            gaps = [f"{100 * (row[f'cost_{size}'] / best[size] - 1):.2f} %" for size in sizes]
            hours = f"{row['minutes'] / 60:.2f}"
            lines.append(f"| {hours} | {row['transitions']:,} | {' | '.join(gaps)} |")
        lines.append("")
    return lines


def evolution(prior: Path, origin: str) -> list[str]:
    """How the prior came to be, and its validations, if the run's folder is there."""
    run = prior if prior.is_dir() else None
    policy = load_native(prior / POLICY_FILE if run else prior)
    if policy.sha256[:12] not in origin:
        raise SystemExit(f"{prior} is at {policy.sha256[:12]}, the network began with {origin}")
    lines = [f"sha256 `{policy.sha256}`; the last run first:", ""]
    record: dict[str, Any] = dict(policy.record)
    while record:
        lines.append(
            f"* `presets/{record['preset']}.toml`, {record['generations']} generations, "
            f"{record['steps']:,} steps, {record['minutes']:.0f} minutes"
        )
        record = record.get("from", {}).get("training", {})
    return lines + (validations(run) if run else [])


def validations(run: Path) -> list[str]:
    """Of an evolution: means of a few, as each is a single search."""
    rows = [line for line in read_metrics(run) if line["kind"] == "validation"]
    names = [name for name in rows[0] if name.startswith("gap_")]
    titles = [f"N = {size}, {budget} steps" for _, size, budget in (n.split("_") for n in names)]
    lines = [
        "",
        f"Validation, means of up to {LOOKS} looks each (first row: the policy that it began with), gap to "
        "long annealed searches; 1000x8 steps: the best of eight searches of 1,000.",
        "",
        f"| minutes | {' | '.join(titles)} |",
        f"| --- | {' | '.join('---' for _ in titles)} |",
    ]
    for group in [rows[:1], *(rows[i : i + LOOKS] for i in range(1, len(rows), LOOKS))]:
        gaps = [100 * sum(row[name] for row in group) / len(group) for name in names]
        cells = " | ".join(f"{gap:.2f} %" for gap in gaps)
        lines.append(f"| {group[-1]['minutes']:.0f} | {cells} |")
    return lines


def results(paths: list[Path]) -> list[str]:
    """What ``policy_quality.py`` found."""
    quality: dict[str, Any] = {}
    for path in paths:
        quality |= json.loads(path.read_text())
    lines = [
        "| N | search | instances | mean cost | gap to best known | gap to LKH-3 10k (instances) |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for nodes in (key for key in quality if key.isdigit()):
        for name, row in quality[nodes].items():
            rival = "percent_to_lkh"
            beside = f"{row[rival]:.2f} % ({row['instances_with_lkh']})" if rival in row else ""
            lines.append(
                f"| {nodes} | {name} | {row['instances']} | {row['mean_cost']:.3f} | "
                f"{row['mean_percent']:.2f} % +- {row['standard_error']:.2f} | {beside} |"
            )
    lines += ["", f"Instances of seed {quality['seed']}, none of them seen in training."]
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--runs", type=Path, nargs="+", required=True)
    parser.add_argument("--prior", type=Path, help="the evolution of its prior: folder or policy")
    parser.add_argument("--quality", type=Path, nargs="+", required=True)
    parser.add_argument("-o", "--out", type=Path, required=True)
    arguments = parser.parse_args()
    checkpoint = load(arguments.checkpoint)
    parts = [
        [f"# {arguments.out.stem}", ""],
        facts(checkpoint, arguments.out.with_suffix(".safetensors")),
        ["", "## Results", "", *results(arguments.quality)],
        ["", "## Validation", "", *curve(arguments.runs)],
    ]
    if arguments.prior is not None:
        parts.append(
            [
                "",
                "## The prior",
                "",
                *evolution(arguments.prior, str(checkpoint.record["from"])),
                "",
            ]
        )
    arguments.out.write_text("\n".join(line for part in parts for line in part))


if __name__ == "__main__":
    main()
