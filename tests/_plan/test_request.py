"""A request says who names a role, and a call reads the roles that it accepts."""

from __future__ import annotations

import pytest

import recframe
from recframe._plan.request import Request

ALLOWED = ("by", "item", "relevant", "score")


def test_the_call_wins_over_the_accessor_and_the_accessor_over_config():
    request = Request(None, {"by": "bound", "item": "bound"}, {"by": "call"})
    with recframe.Config(by="config", item="config", relevant="config"):
        roles = request.resolved(ALLOWED)
    assert (roles.by, roles.item, roles.relevant, roles.score) == ("call", "bound", "config", None)
    assert request.named == {"by": "call", "item": "bound"}


def test_a_query_ignores_bound_roles_that_the_call_does_not_accept():
    request = Request(None, {"by": "bound", "weight": "bound"}, {"item": "call"})
    query = request.query(ALLOWED)
    assert (query.by, query.item, query.weight) == (("bound",), "call", None)
    assert query.named == {"by", "item"}
    with pytest.raises(recframe.errors.RecError, match="weight"):
        Request(None, {}, {"weight": "call"}).query(ALLOWED)


def test_roles_are_left_out_whoever_named_them():
    request = Request(None, {"score": "bound", "by": "bound"}, {"score": "call", "item": "call"})
    assert request.without("score", "item") == Request(None, {"by": "bound"}, {})
