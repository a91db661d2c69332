"""Tools a model may call while it answers: what there is, how a call is carried out, how it is told to a person."""
