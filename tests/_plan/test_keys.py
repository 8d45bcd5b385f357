"""The keys of a call follow from its query alone."""

from __future__ import annotations

from recframe._base.columns import MODEL
from recframe._base.roles import Roles
from recframe._plan.keys import keys_of
from recframe._plan.query import Query
from recframe.metrics import parse


def query_of(**roles):
    return Query.of(Roles(**roles))


def test_equal_calls_share_the_keys():
    query = query_of(by="user")
    assert keys_of(query) is keys_of(query)


def test_a_frame_that_is_one_list_has_a_key_of_the_plan():
    keys = keys_of(query_of(by=None))
    assert keys.of_user == []
    assert keys.key == keys.group == keys.of_list
    assert len(keys.key) == 1


def test_columns_of_items_and_models_are_keys_after_those_of_lists():
    keys = keys_of(query_of(by=["user", "day"], per_item="genre", model="algorithm"))
    assert keys.key == [*keys.of_user, *keys.of_items]
    assert keys.group == [*keys.key, MODEL]
    assert [keys.key_names[name] for name in keys.key] == ["user", "day", "genre"]
    assert keys.of_result == keys.reported == [*keys.of_items, MODEL]


def test_names_of_a_result_are_those_of_the_user():
    keys, metrics = keys_of(query_of(by="user", per="country")), [parse("rbp(p=0.5)@3")]
    assert keys.reports_attributes
    assert not keys.reports_lists
    assert [*keys.names(metrics).values()] == ["country", "rbp(p=0.5)@3"]
    by_list = keys_of(query_of(by="user", per="user"))
    assert by_list.reports_lists
    assert not by_list.reports_attributes
