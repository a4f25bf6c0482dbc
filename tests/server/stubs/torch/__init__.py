"""Stands in for PyTorch, so that llama-stack and ogx start without it.

The embedding provider of the base configs imports torch when it is built and uses it when it embeds. The tests embed
nothing, and the real package takes 2 GB.
"""


def no_grad():
    return lambda function: function
