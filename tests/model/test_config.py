from __future__ import annotations

from dataclasses import asdict

import pytest

from n2s.errors import InputError
from n2s.model import Policy
from n2s.model.config import Attention, PolicyConfig, config_from


def test_defaults_are_the_papers() -> None:
    config = PolicyConfig()
    assert (config.width, config.heads, config.layers, config.clip) == (128, 4, 3, 6.0)
    assert config.attention is Attention.SYNTH
    assert not config.costs
    assert config.score_scale == 32**-0.5
    assert PolicyConfig(scale_scores=False).score_scale == 1.0


def test_a_configuration_survives_the_way_through_a_dictionary() -> None:
    config = PolicyConfig(width=64, costs=True, attention=Attention.DAC)
    assert config_from(asdict(config)) == config


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"widht": 64}, "no option 'widht'"),
        ({"attention": "best"}, "attention is 'best', not one of synth, vanilla, dac"),
        ({"width": 100, "heads": 8}, "width 100 must be a multiple of twice the 8 heads"),
        ({"layers": 0}, "layers must be a positive whole number"),
        ({"epsilon": 1.5}, "epsilon must be a share"),
        ({"clip": 0.0}, "clip must be positive"),
        ({"beta": float("nan")}, "beta must be a finite number, not nan"),
        ({"beta": "x"}, "beta must be a finite number, not 'x'"),
        ({"beta": True}, "beta must be a finite number, not True"),
        ({"clip": float("inf")}, "clip must be a finite number, not inf"),
        ({"clip": "6"}, "clip must be a finite number, not '6'"),
        ({"clip": 10**5000}, "clip must be a finite number, not something very large"),
        ({"clip": 1e39}, "clip must be a finite number"),  # infinite in float32
        ({"epsilon": "a"}, "epsilon must be a finite number, not 'a'"),
        ({"epsilon": None}, "epsilon must be a finite number, not None"),
        ({"costs": "yes"}, "costs must be true or false, not 'yes'"),
        ({"mask_last": None}, "mask_last must be true or false, not None"),
        ({"scale_scores": 1}, "scale_scores must be true or false, not 1"),
        ({"width": 10**9}, "width must be at most 4096, not 1000000000"),
        ({"width": True}, "width must be a positive whole number, not True"),
        ({"width": 4096, "heads": 128}, "heads must be at most 64, not 128"),
        ({"layers": 30000}, "layers must be at most 64, not 30000"),
        ({"attention": []}, r"attention is \[\], not one of"),
        ([], r"options must be a table, not \[\]"),
    ],
)
def test_what_cannot_be_is_named(values, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        config_from(values)


def test_a_whole_number_will_do_where_a_number_is_asked_for() -> None:
    config = PolicyConfig(width=16, costs=True, beta=3, clip=6, epsilon=1)
    assert [type(v) for v in (config.beta, config.clip, config.epsilon)] == [float] * 3
    assert Policy(config).count_parameters() > 0
