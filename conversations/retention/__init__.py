"""How long conversations are kept, by whose rule, and how they are erased when their time is over.

One road for every deletion: `erase` takes the rows away, in short transactions, and leaves a receipt; `finishing` goes
on until every store of the `manifest` was read back and found clean, also when somebody was killed in between.
"""
