"""The namespace: registration in any order, memory, pickling, binding, and what importing costs."""

from __future__ import annotations

import gc
import importlib
import inspect
import pickle
import pkgutil
import subprocess
import sys
import textwrap
import types
import warnings
import weakref
from dataclasses import fields

import pytest

import recframe
from recframe import metrics
from recframe._base.roles import SIDE_INFORMATION, Roles, roles_of
from recframe._base.signatures import MAIN_ROLES

COLUMNS = {"user": [1, 1, 1, 2, 2], "relevant": [1, 0, 1, 0, 1], "score": [0.9, 0.8, 0.1, 0.6, 0.5]}
NDCG = ((1 / (1 + 0.6309297535714575)) + 0.6309297535714575) / 2


def frames():
    try:
        import polars as pl
    except ImportError:
        pass
    else:
        yield pytest.param(lambda: pl.DataFrame(COLUMNS), id="polars")
        yield pytest.param(lambda: pl.LazyFrame(COLUMNS), id="polars lazy")
    try:
        import pandas as pd
    except ImportError:
        pass
    else:
        yield pytest.param(lambda: pd.DataFrame(COLUMNS), id="pandas")


@pytest.fixture(params=frames())
def frame(request):
    return request.param()


def run(code: str) -> str:
    """Run code in a fresh interpreter, where nothing is imported yet and warnings are errors."""
    # What pandas 2.2.0 says at import is not ours.
    strict = 'import warnings; warnings.simplefilter("error"); warnings.filterwarnings("ignore", r"\\nPyarrow will")\n'
    done = subprocess.run(
        [sys.executable, "-c", strict + textwrap.dedent(code)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def value(answer):
    return answer.collect().item() if hasattr(answer, "collect") else answer


def test_the_namespace_and_the_typed_door_agree(frame):
    assert value(frame.rec.ndcg(2)) == pytest.approx(NDCG, abs=1e-12)
    assert value(recframe.rec(frame).ndcg(2)) == pytest.approx(NDCG, abs=1e-12)
    assert type(recframe.rec(frame)) is type(frame.rec)


@pytest.mark.parametrize("library", ["polars", "pandas"])
@pytest.mark.parametrize(
    "order",
    [
        "import {0}; import recframe",
        "import recframe; import {0}",
        "from {0} import DataFrame; import recframe; import {0}",
    ],
)
def test_it_registers_in_either_import_order(library, order):
    pytest.importorskip(library)
    assert run(f"{order.format(library)}; print({library}.DataFrame({COLUMNS!r}).rec.mrr())") == "0.75"


def test_both_libraries_register_whichever_comes_first():
    pytest.importorskip("polars")
    pytest.importorskip("pandas")
    code = f"import recframe, pandas, polars; d = {COLUMNS!r}; print(polars.DataFrame(d).rec.mrr(), pandas.DataFrame(d).rec.mrr())"
    assert run(code) == "0.75 0.75"


def test_the_import_hook_leaves_the_library_as_it_was():
    library = "polars" if importlib.util.find_spec("polars") else "pandas"
    plain = run(
        f"import {library}; print(type({library}.__loader__).__name__, type({library}.__spec__.loader).__name__)"
    )
    hooked = run(
        f"import recframe; import {library}; print(type({library}.__loader__).__name__, type({library}.__spec__.loader).__name__)"
    )
    assert hooked == plain


def test_reloading_warns_of_nothing(frame):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        importlib.reload(recframe)
        importlib.reload(recframe._call.register).install()
    assert value(frame.rec.mrr()) == 0.75
    names = [type(finder).__qualname__ for finder in sys.meta_path]
    assert names.count("_Finder") == 1


def test_importing_imports_no_engine_and_no_numpy():
    assert (
        run("import sys, recframe; print([m for m in ('polars', 'pandas', 'numpy', 'pyarrow') if m in sys.modules])")
        == "[]"
    )


def test_polars_work_imports_no_pandas_and_no_numpy():
    pytest.importorskip("polars")
    code = f"""
        import sys, polars, recframe
        polars.DataFrame({COLUMNS!r}).rec.evaluate(["ndcg", "map", "mrr"], k=[1, 5], per="user")
        print([m for m in ("pandas", "numpy", "pyarrow") if m in sys.modules])
    """
    assert run(code) == "[]"


def test_all_names_are_there_without_numpy():
    pytest.importorskip("polars")
    assert (
        run("import sys; sys.modules['numpy'] = None; from recframe import *; print(merge_states.__name__)")
        == "merge_states"
    )


@pytest.mark.parametrize(("given", "named"), [("{}", "making a frame"), ("{}, library='pandas'", "library='pandas'")])
def test_a_library_that_is_missing_with_numpy_is_named(given, named):
    code = f"""
        import sys
        sys.modules.update(dict.fromkeys(["polars", "pandas", "numpy"]))
        import recframe
        try:
            recframe.from_dict({given})
        except recframe.MissingExtraError as error:
            print(str(error).partition(chr(10))[0])
    """
    assert run(code) == f"packages for {named} are not installed"


def test_the_accessor_keeps_no_frame_alive(frame):
    gc.collect()
    gc.disable()
    try:
        alive = weakref.ref(frame)
        value(frame.rec.ndcg(2))
        frame.rec  # noqa: B018 - looking is what might cache
        # The parameter of the test and the fixture hold one too: a copy has no other owner.
        other = frame.copy() if hasattr(frame, "copy") else frame.clone()
        dies = weakref.ref(other)
        value(other.rec.ndcg(2))
        bound = other.rec(by="user")
        del other, bound
        assert dies() is None
        assert alive() is frame
    finally:
        gc.enable()


def test_it_pickles_with_its_roles(frame):
    again = pickle.loads(pickle.dumps(frame.rec(score="score", relevant="relevant")))
    assert value(again.ndcg(2)) == pytest.approx(NDCG, abs=1e-12)


def test_errors_and_metrics_pickle():
    error = recframe.MissingColumnError("by='x': no such column", "did you mean 'y'?")
    assert str(pickle.loads(pickle.dumps(error))) == str(error) == "by='x': no such column\n\nHint: did you mean 'y'?"
    metric = metrics.NDCG(10, gain="exp2")
    assert pickle.loads(pickle.dumps(metric)) == metric


def test_repr_names_bound_frames_and_shows_long_values_short(frame):
    """It held whole frames, and ran the queries of relations."""
    text = repr(frame.rec(train=frame, truth=frame, by="user", catalog=list(range(1000))))
    assert text.startswith("<rec on p")
    assert "Frame, train=..., truth=..., by='user', catalog=[0, 1, " in text
    assert len(text.splitlines()[0]) < 120


def test_repr_says_what_there_is(frame):
    text = repr(frame.rec(by="user"))
    assert text.startswith("<rec on p") and "by='user'>\n" in text
    assert "\nmeasure  ndcg, map" in text and "\ncompare  compare " in text and "\nstore    state " in text
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.filterwarnings("ignore::recframe.DataWarning")  # the key is the rank, so all ranks of a list tie
def test_bound_roles_hold_and_given_ones_win(frame):
    renamed = (
        frame.rename({"user": "object"}) if not hasattr(frame, "copy") else frame.rename(columns={"user": "object"})
    )
    bound = renamed.rec(by="object", score="relevant")
    assert value(bound.mrr()) == 1.0
    assert value(bound.mrr(score="score")) == 0.75
    assert value(bound(score="score").mrr()) == 0.75
    # A rank given in place of a bound score is no contradiction.
    assert value(bound.mrr(rank="object")) is not None


def test_looking_the_namespace_up_on_the_class_gives_the_class(frame):
    assert isinstance(type(frame).rec, type)
    assert "rec" in dir(frame)


def test_a_column_of_the_same_name_does_no_harm():
    pd = pytest.importorskip("pandas")
    assert pd.DataFrame(COLUMNS | {"rec": 1}).rec.mrr() == 0.75


@pytest.mark.parametrize("name", list(metrics.METRICS))
def test_methods_show_their_options_and_the_main_roles(name):
    signature = inspect.signature(getattr(recframe.EagerRec, name))
    kind = metrics.METRICS[name]
    options = {field.name for field in fields(kind)}
    inputs = {*kind.required_inputs, *kind.optional_inputs} & set(SIDE_INFORMATION)
    assert set(signature.parameters) == {"self", *MAIN_ROLES, *options, *inputs, "roles"}
    text = inspect.getdoc(getattr(recframe.EagerRec, name))
    assert "References" in text
    assert all(f"\n{role} :" in text for role in (*MAIN_ROLES, *inputs))
    assert all(f"`{role}`" in text for role in set(roles_of(kind)) - {*MAIN_ROLES, *inputs})


def test_every_role_is_documented():
    assert all(f"\n{name} : " in inspect.cleandoc(Roles.__doc__) for name in (*roles_of(), *SIDE_INFORMATION))


def test_the_frame_is_never_changed(frame):
    before = frame.collect() if hasattr(frame, "collect") else frame.copy() if hasattr(frame, "copy") else frame.clone()
    value(
        frame.rec.evaluate(["ndcg", "map"], k=[1, 2]).collect()["ndcg@1"][0]
        if hasattr(frame, "collect")
        else frame.rec.ndcg()
    )
    frame.rec.evaluate(["ndcg"], k=2, per="user", ties="best")
    after = frame.collect() if hasattr(frame, "collect") else frame
    assert after.equals(before)


def test_importing_is_light_and_the_rest_comes_at_its_first_use():
    program = (
        "import sys, recframe; early = set(sys.modules)"
        "; print(sorted(name for name in early if name.split('.')[0] in {'numpy', 'pandas', 'polars', 'narwhals'}))"
        "; print(sorted(name for name in early if name.startswith('recframe.')))"
        "; print(recframe.explain.__name__, recframe.from_lists.__name__, recframe.profiles.__name__, 'candidates' in dir(recframe))"
        "; print(all(getattr(recframe, name) is not None for name in recframe.__all__))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:4] == [
        "[]",
        "['recframe._base', 'recframe._base.defaults', 'recframe._call', 'recframe._call.register', 'recframe.errors']",
        "explain from_lists recframe.profiles True",
        "True",
    ]
    with pytest.raises(AttributeError, match="no attribute 'evaluate'"):
        recframe.evaluate  # noqa: B018


@pytest.mark.parametrize("library", ["polars", "pandas"])
@pytest.mark.parametrize("asks_all", [False, True], ids=["alone", "asks all finders"])
def test_a_library_that_another_finder_has_gets_the_namespace(library, asks_all):
    pytest.importorskip(library)
    # As with an editable installation: the finder of paths does not know the library.
    code = f"""
        import sys, recframe
        from importlib.machinery import PathFinder
        from importlib.util import find_spec

        known = PathFinder.find_spec({library!r})
        plain = PathFinder.find_spec

        class Editable:
            asking = False

            @classmethod
            def find_spec(cls, name, path=None, target=None):
                if name != {library!r} or cls.asking:
                    return None
                cls.asking = True
                try:
                    return find_spec(name) if {asks_all} and find_spec(name) else known
                finally:
                    cls.asking = False

        PathFinder.find_spec = lambda name, *given: None if name == {library!r} else plain(name, *given)
        sys.meta_path.append(Editable)
        import {library}
        print(type({library}.DataFrame({COLUMNS!r}).rec.ndcg()).__name__)
    """
    assert run(code) == "float"


@pytest.mark.parametrize("error", ["ImportError('a broken library')", "ModuleNotFoundError('a part', name='part')"])
def test_a_broken_polars_is_an_error(tmp_path, error):
    pytest.importorskip("pandas")
    (tmp_path / "polars.py").write_text(f"raise {error}")
    code = f"""
        import sys
        sys.path.insert(0, {str(tmp_path)!r})
        import pandas as pd, recframe
        COLUMNS = {COLUMNS!r}
        for call in (lambda: pd.DataFrame(COLUMNS).rec.ndcg(), lambda: recframe.from_dict({{'q': {{'d': 1}}}})):
            try:
                call()
            except ImportError as raised:
                print(raised)
    """
    assert run(code) in ("a broken library\na broken library", "a part\na part")


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_grouped_frames_say_which_call_is_meant(library):
    frames = pytest.importorskip(library)
    df = frames.DataFrame({"user": [1, 1], "day": [1, 2], "relevant": [0, 1], "score": [0.9, 0.1]})
    if library == "pandas":
        groups = [
            (df.groupby("user"), "'user'"),
            (df.groupby(["user", "day"]), r"\['user', 'day'\]"),
            (df.groupby("user")["score"], "'user'"),
            (df.groupby(df["day"]), "'country'"),
        ]
        named = df.assign(rec=1).groupby("user")
        assert named.rec.sum().tolist() == [2]  # a column of this name is found as before
        assert "ndcg" not in dir(df.groupby("user"))
    else:
        groups = [
            (df.group_by("user"), "'user'"),
            (df.group_by("user", "day"), r"\['user', 'day'\]"),
            (df.lazy().group_by("user"), "'country'"),
            (df.rolling("day", period="1i"), "'country'"),
            (df.group_by_dynamic("day", every="1i"), "'country'"),
        ]
    for grouped, per in groups:
        hint = rf"df\.rec%s\(\.\.\., per={per}\) gives a row for each group; by={per} says that the groups"
        with pytest.raises(
            recframe.UnknownMethodError,
            match=rf"(?s)grouped frame is no frame, so it has no \.rec\.ndcg.*{hint % '.ndcg'}",
        ) as caught:
            grouped.rec.ndcg(5)
        assert ("recframe.expr" in str(caught.value)) == (library == "polars")
        with pytest.raises(recframe.UnknownMethodError, match=hint % ""):
            grouped.rec(by="user")
        with pytest.raises(recframe.OptionTypeError, match=f"(?s)grouped frame is no frame.*{hint % ''}"):
            recframe.rec(grouped)
        assert not hasattr(grouped.rec, "_repr_html_")


PUBLIC_MODULES = [
    "recframe",
    *(f"recframe.{module.name}" for module in pkgutil.iter_modules(recframe.__path__) if module.name[0] != "_"),
]


@pytest.mark.parametrize("name", PUBLIC_MODULES)
def test_dir_shows_public_names_only(name):
    module = importlib.import_module(name)
    shown = [each for each in dir(module) if not each.startswith("__")]
    assert shown
    assert [each for each in shown if each.startswith("_")] == []
    assert set(getattr(module, "__all__", shown)) <= set(shown)
    modules = {each.removeprefix("recframe.") for each in PUBLIC_MODULES} if name == "recframe" else set()
    assert set(shown) - set(getattr(module, "__all__", shown)) <= modules
    for each in shown:
        result = getattr(module, each)
        home = result.__name__ if isinstance(result, types.ModuleType) else getattr(result, "__module__", name)
        assert home.startswith("recframe"), each
