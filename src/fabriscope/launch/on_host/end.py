# ruff: noqa: F821
# mypy: ignore-errors
# A relay's job: end what carries a mark on the host. Plain Python 3.6, sent as text; end_marked is of sweep.py.


def answer(request, _body):
    return end_marked(request)
