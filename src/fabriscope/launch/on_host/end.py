# ruff: noqa: F821
# mypy: ignore-errors
# A relay's job: end what carries a mark on the host, and remove its temporary folders. Plain Python 3.6, sent as text;
# what it calls is of sweep.py.


def answer(request, _body):
    return [end_marked(request), remove_folders(request)]
