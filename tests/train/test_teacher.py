"""The teacher against the policy whose prior it is, and what a pupil learns from it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from model.observations import SIZES, observe, uniforms
from model.test_prior import native_of, with_prior
from n2s.errors import InputError
from n2s.model import Decision, FastPolicy, Observation
from n2s.native import NativePolicy
from n2s.native import find as find_native
from n2s.problem import Variant
from n2s.train.config import PPO, Lessons, read_preset
from n2s.train.learner import Learner
from n2s.train.rollout import Rollout
from n2s.train.teacher import Teacher, find
from train.test_config import PRESETS
from train.test_learner import CPU, networks_of, searches

LESSONS = Lessons("somebody", 1, at=0.3, steps=700)


def teacher_of(native: NativePolicy, lessons: Lessons = LESSONS) -> Teacher:
    return Teacher("somebody", native.blocks, lessons)


def standing(observation: Observation, at: float, steps: float) -> Observation:
    """The same searches at one point of one budget."""
    progress = observation.whole_progress()
    used, total = torch.full_like(progress.used, at), torch.full_like(progress.total, steps)
    return replace(observation, progress=replace(progress, used=used, total=total))


def moves(decision: Decision) -> list[tuple[int, int, int]]:
    return list(
        zip(*(part.tolist() for part in (decision.requests, decision.j, decision.k)), strict=True)
    )


@pytest.mark.parametrize(("batch", "n"), SIZES)
def test_a_teacher_decides_as_the_policy_whose_prior_it_is(
    batch: int, n: int, variant: Variant
) -> None:
    """The network around a prior begins as nothing, so its draws are the prior's."""
    native = native_of(variant)
    observation = observe(batch, n, variant)
    draws = uniforms(batch)
    mine = teacher_of(native).act(observation, draws)
    theirs = with_prior(native).act(standing(observation, 0.3, 700), draws)
    assert moves(mine) == moves(theirs)
    assert mine.log_prob.tolist() == pytest.approx(theirs.log_prob.tolist(), abs=1e-4)


def test_where_a_search_stands_does_not_matter_to_a_teacher() -> None:
    observation = observe(7, 25, Variant.LIFO)
    draws = uniforms(7)
    early, late = standing(observation, 0.0, 300), standing(observation, 1.0, 3000)
    native = native_of(Variant.LIFO)
    chances = teacher_of(native).act(early, draws).log_prob
    assert teacher_of(native).act(late, draws).log_prob.tolist() == chances.tolist()
    for other in (replace(LESSONS, at=1.0), replace(LESSONS, steps=100_000)):
        differing = teacher_of(native, other).act(early, draws).log_prob - chances
        assert float(differing.abs().max()) > 0.05


def test_a_teacher_draws_nothing_from_the_callers_generator() -> None:
    torch.manual_seed(3)
    teacher_of(native_of(Variant.LIFO))
    after = torch.rand(1)
    torch.manual_seed(3)
    assert torch.equal(after, torch.rand(1))


def test_the_pupil_searches_and_the_teacher_is_quoted(variant: Variant) -> None:
    """A rollout keeps the teacher's decisions about the states that the pupil's own moves lead to."""
    pupil = FastPolicy(networks_of().policy)
    teacher = teacher_of(native_of(variant))
    state, again = searches(3, 5, variant), searches(3, 5, variant)
    rollout = Rollout(3, 11, 4, CPU)
    rollout.collect(state, pupil, np.random.default_rng(5), teacher)
    generator = np.random.default_rng(5)
    kept = rollout.decision()
    for step in range(4):
        observation = again.observe()
        made = pupil.act(observation, torch.from_numpy(generator.random((3, 2))))
        quoted = teacher.act(observation, torch.from_numpy(generator.random((3, 2))))
        assert [moves(kept)[4 * row + step] for row in range(3)] == moves(quoted)
        assert rollout.rewards[:, step].tolist() == pytest.approx(again.apply(made).tolist())
    assert state.tours.tolist() == again.tours.tolist()


def test_a_lesson_is_the_cross_entropy_and_is_learned() -> None:
    """The loss is minus the mean log-probability of what was quoted, and falls."""
    networks = networks_of()
    learner = Learner(networks, PPO(policy_rate=3e-3, max_norm=1.0, normalise=True), 512, CPU)
    teacher = teacher_of(find_native("native-single-pdtsp", Variant.PDTSP))
    rollout = Rollout(3, 7, 4, CPU)
    rollout.collect(
        searches(3, 3, Variant.PDTSP),
        FastPolicy(networks.policy),
        np.random.default_rng(1),
        teacher,
    )
    with torch.no_grad():
        assessment = networks.policy.log_prob(rollout.observation(), rollout.decision())
    (first,) = learner.study(rollout)
    assert first.policy_loss == pytest.approx(-float(assessment.log_prob.mean()), rel=1e-5)
    assert (first.kl, first.clip_fraction) == (0.0, 0.0)
    for _ in range(30):
        (last,) = learner.study(rollout)
    assert last.policy_loss < 0.5 * first.policy_loss


def test_normalised_advantages_do_not_touch_a_lesson() -> None:
    norms = []
    for normalise in (False, True):
        networks = networks_of()
        rollout = Rollout(3, 7, 4, CPU)
        rollout.collect(
            searches(3, 3, Variant.LIFO),
            FastPolicy(networks.policy),
            np.random.default_rng(1),
            teacher_of(native_of(Variant.LIFO)),
        )
        learner = Learner(networks, PPO(normalise=normalise), 512, CPU)
        norms.append(learner.study(rollout)[0].policy_norm)
    assert norms[0] == norms[1] > 0


def test_who_teaches() -> None:
    assert find(Lessons(), Variant.PDTSP) is None
    assert find(Lessons("native-single-lifo", 0), Variant.LIFO) is None
    teacher = find(Lessons("native-single-lifo", 3), Variant.LIFO)
    assert teacher is not None
    native = find_native("native-single-lifo", Variant.LIFO)
    assert teacher.label == f"native-single-lifo {native.sha256[:12]}"
    assert teacher.memory() == {"label": teacher.label, "blocks": native.blocks}


@pytest.mark.parametrize("path", sorted(PRESETS.glob("taught-*.toml")), ids=lambda path: path.stem)
def test_presets_name_a_teacher_of_their_variant(path: Path) -> None:
    config = read_preset(path)
    assert find(config.lessons, config.data.variant) is not None
    assert 0 < config.lessons.epochs < config.ppo.epochs


def test_who_cannot_teach(tmp_path: Path) -> None:
    nobody = "there is no such file, and the package has no native policy of that name (it has "
    sentences = {
        "native-single-lifo": "native-single-lifo: the policy is for lifo, not for pdtsp",
        str(tmp_path / "nobody.json"): f"{tmp_path / 'nobody.json'}: {nobody}",
        "\0": f"\\x00: {nobody}",
    }
    for name, sentence in sentences.items():
        with pytest.raises(InputError) as caught:
            find(Lessons(name, 3), Variant.PDTSP)
        assert str(caught.value).startswith(f"lessons.teacher: {sentence}")
