"""What moving in steps is for: the beginning of a request is that of the one before."""

import pytest

from conversations.context.values import Budget
from tests.bench.caching import (
    BUNDLED,
    LARGE,
    conversation,
    even_conversation,
    in_steps,
    prompts,
    repeated_share,
    sliding,
)

both = pytest.mark.parametrize("budget", [LARGE, BUNDLED], ids=["large", "bundled"])


@both
def test_after_the_first_overflow_four_fifths_of_the_tokens_are_known_to_a_cache(budget: Budget) -> None:
    assert repeated_share(list(prompts(in_steps, budget, conversation()))) >= 0.8
    assert repeated_share(list(prompts(in_steps, budget, even_conversation()))) >= 0.8


@both
def test_with_summaries_of_what_is_left_out_as_well(budget: Budget) -> None:
    for history in (conversation(), even_conversation()):
        made = list(prompts(in_steps, budget, history, is_summarised=True))
        assert repeated_share(made) >= 0.8


@both
def test_of_a_sliding_window_far_fewer_are_and_hardly_any_where_all_turns_are_alike(budget: Budget) -> None:
    """A long turn that falls out of it leaves room for some short ones; only then its beginning stays for a while."""
    assert repeated_share(list(prompts(sliding, budget, conversation()))) < 0.4
    assert repeated_share(list(prompts(sliding, budget, even_conversation()))) < 0.01
