from __future__ import annotations

from dataclasses import asdict

import pytest

from n2s.errors import InputError
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
    ],
)
def test_what_cannot_be_is_named(values: dict[str, object], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        config_from(values)
