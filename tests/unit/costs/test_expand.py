from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from tests.unit.costs.specs import STAGES, STEP, TWO_SITES, layered, measured, named, only_fault, refusal, stages_of

from crosspipe.costs import expand
from crosspipe.errors import TooLargeError
from crosspipe.spec.stages import StagesModel

if TYPE_CHECKING:
    from crosspipe.spec.model import Spec

EIGHT_DEEP = {"tensor": 8, "pipeline": 8, "data": 16}


class TestEstimate:
    def test_llama_70b_on_two_sites(self) -> None:
        """Ten layers of 70B at s = 4096 on 8 H100 at 40 %.

        Matrices of a layer: 855,638,016 parameters x 2 x 4096 tokens = 7.009387 TFLOP; attention 2 x 4096^2 x 8192 =
        0.274878 TFLOP; rate 8 x 0.4 x 989 = 3164.8 TFLOP/s. F = 10 x 7.284265 / 3164.8 s = 23.017 ms,
        B = 10 x 7.559142 / 3164.8 s = 23.885 ms, W = 10 x 7.009387 / 3164.8 s = 22.148 ms.
        Activations 10 x (12.5 x 4096 x 8192 + 8 x 4096 x 28672) / 8 = 1698.7 MB, retained
        10 x (12.5 x 4096 x 8192 + 6 x 4096 x 28672) / 8 = 1405.1 MB. Static 10 x 855,654,400 x (6 + 12/16) / 8 =
        7219.6 MB. Message 2 x 4096 x 8192 = 67.1 MB.
        """
        stage = stages_of(expand(named(parallel=EIGHT_DEEP)))[1]
        assert stage.model_dump(exclude_defaults=True) == {
            "forward_ms": Decimal("23.017"),
            "backward_input_ms": Decimal("23.885"),
            "backward_weight_ms": Decimal("22.148"),
            "activation_mb": Decimal("1698.7"),
            "retained_mb": Decimal("1405.1"),
            "static_mb": Decimal("7219.6"),
            "boundary_mb": Decimal("67.1"),
            "gradient_mb": Decimal("67.1"),
            "layers": "10-19",
        }

    def test_the_ends_carry_embedding_and_head(self) -> None:
        """Embedding: 128256 x 8192 x 6.75 / 8 = 886.5 MB more.

        Head: 2 x 128256 x 8192 x 4096 FLOP / 3164.8 TFLOP/s = 2.720 ms in each of F, B and W, 1.18 layers; so the last
        stage has nine layers and an earlier one eleven: 9 x 2.30165 + 2.71971 = 23.434 ms.
        """
        stages = stages_of(expand(named(parallel=EIGHT_DEEP)))
        assert stages[0].static_mb - stages[1].static_mb == Decimal("886.5")
        assert stages[0].forward_ms == stages[1].forward_ms
        assert stages[-1].forward_ms == Decimal("23.434")
        assert [stage.layers for stage in stages] == [
            *("embedding, 0-9", "10-19", "20-29", "30-39", "40-49", "50-59", "60-70", "71-79, head"),
        ]

    def test_llama_405b_leaves_a_layer_out_at_both_ends(self) -> None:
        """126 = 16 x 8 - 2, as in the published run."""
        spec = named(model="llama-3.1-405b", parallel={"tensor": 8, "pipeline": 16, "data": 8})
        layers = [stage.layers for stage in stages_of(expand(spec))]
        assert (layers[0], layers[-1]) == ("embedding, 0-6", "119-125, head")

    def test_published_forward_times_are_met(self) -> None:
        """70B, ten layers, s = 8192: about 48 ms; 405B, eight layers, s = 8192: about 138 ms (both at 40 %)."""
        long = STEP | {"sequence_length": 8192}
        assert stages_of(expand(named(training=long, parallel=EIGHT_DEEP)))[1].forward_ms == pytest.approx(48, abs=0.5)
        big = named(model="llama-3.1-405b", training=long, parallel={"tensor": 8, "pipeline": 16, "data": 8})
        assert stages_of(expand(big))[1].forward_ms == pytest.approx(138, abs=0.5)

    def test_zero_bubble_profile_memory_is_met(self) -> None:
        """Three layers of the 1.5B model, s = 1024, six sequences: 3709 MB at F, 1359 MB until W, message 28.3 MB."""
        spec = named(
            model="zero-bubble-1.5b",
            training={"microbatches": 24, "microbatch": 6, "sequence_length": 1024},
            parallel={"tensor": 1, "pipeline": 8, "data": 1},
            sites={"east": {"gpus": 8, "gpu": "a100-80gb"}},
            links=[],
        )
        stage = stages_of(expand(spec))[1]
        assert (round(stage.activation_mb), round(stage.retained_mb or 0)) == (3709, 1359)
        assert stage.boundary_mb == Decimal("28.3")

    def test_1f1b_fits_the_cards_of_the_two_sites(self) -> None:
        expansion = expand(named(parallel=EIGHT_DEEP))
        for number, stage in enumerate(stages_of(expansion)):
            assert stage.static_mb + (8 - number) * stage.activation_mb < 80_000 * Decimal("0.96")

    def test_weight_work_is_least_and_input_work_most_in_every_stage(self) -> None:
        for stage in stages_of(expand(named(parallel=EIGHT_DEEP))):
            assert stage.backward_weight_ms is not None
            assert stage.backward_input_ms is not None
            assert stage.backward_weight_ms < stage.forward_ms < stage.backward_input_ms

    def test_a_config_is_expanded_like_its_name(self) -> None:
        config = {
            "hidden_size": 8192,
            "num_hidden_layers": 80,
            "num_attention_heads": 64,
            "num_key_value_heads": 8,
            "intermediate_size": 28672,
            "vocab_size": 128256,
            "model_type": "llama",
        }
        assert expand(named(model=config)).spec == expand(named()).spec

    def test_a_head_may_be_a_stage_of_its_own(self) -> None:
        spec = named(
            model="llama-3.2-1b",
            sites={"east": {"devices": 17, "gpu": "h100-80gb"}},
            links=[],
            parallel={"data": 1},
        )
        layers = [stage.layers for stage in stages_of(expand(spec))]
        assert (layers[0], layers[15], layers[16]) == ("embedding, 0", "15", "head")

    def test_a_tiny_model_has_times_above_zero(self) -> None:
        config = {"hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 1}
        config |= {"intermediate_size": 8, "vocab_size": 8}
        spec = named(model=config, training={"microbatches": 2, "sequence_length": 1}, parallel={"tensor": 1})
        assert all(stage.forward_ms == Decimal("0.001") for stage in stages_of(expand(spec)))

    def test_a_model_of_absurd_size_is_refused(self) -> None:
        config = {"hidden_size": 10**6, "num_hidden_layers": 2, "num_attention_heads": 1}
        config |= {"intermediate_size": 10**6, "vocab_size": 10**6}
        training = {"microbatches": 1, "microbatch": 10**6, "sequence_length": 10**6}
        with pytest.raises(TooLargeError) as caught:
            expand(named(model=config, training=training, parallel={"tensor": 1}))
        assert caught.value.faults[0].pointer == "/model"

    def test_a_model_of_too_many_layers_is_refused(self) -> None:
        config = {"hidden_size": 64, "num_hidden_layers": 10**6, "num_attention_heads": 1}
        config |= {"intermediate_size": 64, "vocab_size": 64}
        with pytest.raises(TooLargeError) as caught:
            expand(named(model=config))
        assert caught.value.faults[0].pointer == "/model/num_hidden_layers"

    def test_an_unknown_model_is_refused(self) -> None:
        assert only_fault(named(model="llama-3-70")).pointer == "/model"

    def test_estimates_need_the_sequence_length(self) -> None:
        fault = only_fault(named(training={"global_batch": 512, "microbatch": 1}))
        assert (fault.pointer, fault.nearest) == ("/training/sequence_length", "4096")


class TestTraining:
    def test_the_batch_is_shared_by_the_replicas(self) -> None:
        """512 sequences / (1 x 16)."""
        training = expand(named(parallel=EIGHT_DEEP)).spec.training
        assert (training.microbatches, training.global_batch, training.microbatch) == (32, None, 1)
        assert training.sequence_length == 4096

    def test_one_sequence_per_microbatch_by_default(self) -> None:
        expansion = expand(named(training={"microbatches": 32, "sequence_length": 4096}, parallel=EIGHT_DEEP))
        assert expansion.spec.training.microbatch == 1
        assert "/training/microbatch" in [assumption.pointer for assumption in expansion.assumptions]

    def test_counted_microbatches_are_kept(self) -> None:
        training = expand(measured()).spec.training
        assert (training.microbatches, training.microbatch) == (24, None)

    def test_unlike_microbatches_are_kept(self) -> None:
        unlike = {"multipliers": [1, 2, 0.5], "order": "fixed"}
        spec = measured(training={"microbatches": unlike, "split_backward": False})
        assert expand(spec).spec.training == spec.training

    def test_measured_stages_share_a_batch_too(self) -> None:
        spec = measured(training={"global_batch": 64, "microbatch": 2}, parallel={"data": 4})
        assert expand(spec).spec.training.microbatches == 8

    def test_a_step_without_microbatches_is_refused(self) -> None:
        assert only_fault(measured(training={})).pointer == "/training"

    def test_a_step_may_be_counted_twice_if_it_agrees(self) -> None:
        twice = {"microbatches": 24, "global_batch": 48, "microbatch": 1}
        training = expand(measured(training=twice, parallel={"data": 2})).spec.training
        assert (training.microbatches, training.global_batch) == (24, None)

    def test_a_step_counted_twice_is_refused_if_it_does_not(self) -> None:
        twice = {"microbatches": 24, "global_batch": 50, "microbatch": 1}
        assert only_fault(measured(training=twice, parallel={"data": 2})).pointer == "/training/global_batch"


class TestMeasuredStages:
    def test_a_count_is_written_out_with_every_field(self) -> None:
        expansion = expand(measured())
        stages = stages_of(expansion)
        assert len(stages) == 8
        assert all(stage.gradient_mb == Decimal("28.3") and stage.retained_mb == 1359 for stage in stages)

    def test_retained_memory_defaults_to_all(self) -> None:
        bare = {key: value for key, value in STAGES.items() if key != "retained_mb"}
        expansion = expand(measured(model={"stages": bare}))
        assert stages_of(expansion)[0].retained_mb == 3709
        assert "retained_mb = activation_mb" in [assumption.value for assumption in expansion.assumptions]

    def test_listed_stages_keep_what_they_have(self) -> None:
        option = {"activation_mb": 1, "recompute_ms": 2}
        listed = [
            {"forward_ms": 1, "frozen": True, "layers": "encoder", "device": "east/1"},
            {"forward_ms": 1, "backward_ms": 2, "gradient_mb": 3, "recompute_option": option, "device": "east/0"},
        ]
        first, second = stages_of(expand(measured(model={"stages": listed}, sites={"east": {"devices": 2}})))
        assert (first.frozen, first.layers, first.device) == (True, "encoder", "east/1")
        assert (second.gradient_mb, second.device) == (3, "east/0")
        assert second.recompute_option is not None
        assert second.recompute_option.recompute_ms == 2

    def test_options_of_like_stages_are_kept(self) -> None:
        option = {"activation_mb": 1, "recompute_ms": 2}
        stages = stages_of(expand(measured(model={"stages": STAGES | {"recompute_option": option}})))
        assert all(stage.recompute_option is not None for stage in stages)


def test_what_is_not_expanded_is_kept() -> None:
    spec = named(
        name="two sites",
        parallel=EIGHT_DEEP | {"replica_messages": "separate"},
        placement={"traversal": "unidirectional"},
        extra_operations=[{"name": "reduce", "duration_ms": 3, "after": [0]}],
        limits={"in_flight": 8, "deadline_ms": 5000},
    )
    expanded = expand(spec).spec
    assert (expanded.name, expanded.links, expanded.placement) == (spec.name, spec.links, spec.placement)
    assert (expanded.extra_operations, expanded.limits) == (spec.extra_operations, spec.limits)
    assert expanded.parallel == spec.parallel


@pytest.mark.parametrize(
    "spec",
    [
        named(),
        named(parallel=EIGHT_DEEP),
        named(sites={"a": {"pools": [{"gpus": 8, "gpu": "h100-80gb"}, {"gpus": 8, "gpu": "a100-80gb"}]}}, links=[]),
        measured(),
        measured(sites={"east": {"gpus": 64, "gpu": "a100-80gb", "price_per_hour": 2.5}}),
        layered([{"forward_ms": 1, "frozen": True}, {"forward_ms": 1, "backward_ms": 2, "repeat": 5}]),
    ],
)
def test_expanding_twice_changes_nothing(spec: Spec) -> None:
    once = expand(spec).spec
    assert expand(once).spec == once
    assert isinstance(once.model, StagesModel)


def test_every_default_is_told_once() -> None:
    pointers = [assumption.pointer for assumption in expand(named()).assumptions]
    for pointer in ("/training/microbatches", "/parallel/tensor", "/parallel/pipeline", "/parallel/data"):
        assert pointers.count(pointer) == 1
    for site in ("east", "west"):
        for field in ("devices", "memory_gb", "hop_latency_ms", "hop_bandwidth_gbps", "memory_headroom"):
            assert pointers.count(f"/sites/{site}/{field}") == 1


def test_what_was_given_is_no_assumption() -> None:
    site = {"devices": 8, "memory_gb": 40, "hop_latency_ms": 1, "hop_bandwidth_gbps": 2, "memory_headroom": 0.1}
    spec = measured(
        model={"stages": STAGES | {"gradient_mb": 1}},
        sites={"east": site},
        parallel={"tensor": 1, "pipeline": 8, "data": 1},
    )
    assert expand(spec).assumptions == ()


def test_a_spec_that_breaks_a_rule_is_refused() -> None:
    assert only_fault(measured(model={"stages": STAGES | {"retained_mb": 4000}})).pointer == "/model/stages/retained_mb"


def test_an_expansion_that_breaks_a_rule_is_refused() -> None:
    """How many stages there are shows only once the degrees are known."""
    assert only_fault(named(limits={"in_flight": [2, 2, 2]})).pointer == "/limits/in_flight"


def test_all_faults_of_the_sites_are_told_together() -> None:
    sites = {name: site | {"gpu": "abacus"} for name, site in TWO_SITES.items()}
    assert [fault.pointer for fault in refusal(named(sites=sites))] == ["/sites/east/gpu", "/sites/west/gpu"]
