"""`make bench`: what a window that moves in steps saves with prompt caches, beside one that slides."""

import pytest

from conversations.context.values import Budget
from tests.bench.bench_replies import say
from tests.bench.caching import (
    BUNDLED,
    LARGE,
    TURNS,
    anthropic_dollars,
    conversation,
    even_conversation,
    in_steps,
    openai_dollars,
    prompts,
    repeated_share,
    sliding,
)

OPENAI, ANTHROPIC = "gpt-5", "claude-opus-4-8"


@pytest.mark.parametrize(("name", "budget"), [("large model", LARGE), ("bundled model", BUNDLED)])
def bench_what_prompt_caches_know(name: str, budget: Budget) -> None:
    """Share of the prompts that repeats the request before, and dollars at the prices of two models."""
    for policy, is_summarised in ((in_steps, False), (in_steps, True), (sliding, False)):
        made = list(prompts(policy, budget, conversation(), is_summarised=is_summarised))
        even = list(prompts(policy, budget, even_conversation(), is_summarised=is_summarised))
        kind = f"{policy.__name__}{' with summaries' * is_summarised}"
        say(
            f"{TURNS} turns, {name}, {kind}: {sum(prompt.tokens for prompt in made):,} tokens; since the "
            f"first overflow {repeated_share(made):.1%} of them known to a cache ({repeated_share(even):.1%} where all "
            f"turns are alike); {OPENAI} ${openai_dollars(made, OPENAI):.2f}; {ANTHROPIC} "
            f"${anthropic_dollars(made, ANTHROPIC):.2f}, ${anthropic_dollars(made, ANTHROPIC, caches=False):.2f} if "
            "nothing is cached"
        )
