"""The strict JSON reader: what it accepts is what the standard library reads, and everything else is one clear line."""

from __future__ import annotations

import gc
import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from groundeval.errors import InputError, quoted
from groundeval.sources import jsonfile

TEXT = st.text(alphabet=list('ab":\\{}[],\n \tä'), max_size=6)  # everything that could fool a count of bytes
LEAVES = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    LEAVES | TEXT, lambda v: st.lists(v, max_size=4) | st.dictionaries(TEXT, v, max_size=4), max_leaves=12
)
SEPARATORS = st.sampled_from([(",", ":"), (", ", ": "), (" , ", " : "), (",\n", "\t:"), (",", "\n\r:")])


def text_of(value: Any, separators: tuple[str, str], ascii_only: bool = True) -> bytes:
    return json.dumps(value, separators=separators, ensure_ascii=ascii_only).encode()


def with_pairs(pairs: list[tuple[str, Any]], separators: tuple[str, str]) -> bytes:
    inside = separators[0].join(json.dumps(k) + separators[1] + json.dumps(v) for k, v in pairs)
    return b'[{"x": {' + inside.encode() + b"}}]"


@given(VALUES, SEPARATORS, st.booleans())
@example({'":': '":', "\\": '\\":'}, (",", ":"), True)
@example({":": ":smile:"}, (",", ":"), True)
def test_reads_what_the_standard_library_reads(value: Any, separators: tuple[str, str], ascii_only: bool) -> None:
    data = text_of(value, separators, ascii_only)
    assert jsonfile.load(data, "x.json") == json.loads(data)


@given(st.lists(st.tuples(TEXT, VALUES), min_size=1, max_size=6), SEPARATORS)
@example([("a", 1), ("a", 1), ('":', '":')], (",", ":"))  # a string makes up for the missing key
@example([("a", ":"), ("a", 1)], (",", ":"))  # so does a string that starts with a colon
@example([("a\\", 1), ("a\\", 2)], (",", " :"))
def test_a_key_that_stands_twice_is_refused_and_named(
    pairs: list[tuple[str, Any]], separators: tuple[str, str]
) -> None:
    data = with_pairs(pairs, separators)
    keys = [key for key, _ in pairs]
    doubled = [key for key in keys if keys.count(key) > 1]
    if not doubled:
        assert jsonfile.load(data, "x.json") == [{"x": dict(pairs)}]
        return
    with pytest.raises(InputError) as error:
        jsonfile.load(data, "x.json")
    assert f"{len(set(doubled))} keys stand more than once" in error.value.what
    assert quoted(doubled[0]) in error.value.what


def test_an_escaped_key_is_the_same_key() -> None:
    with pytest.raises(InputError, match="more than once"):
        jsonfile.load(b'{"a": 1, "\\u0061": 2}', "x.json")


def test_the_same_key_in_different_objects_is_no_fault() -> None:
    assert jsonfile.load(b'[{"a": 1}, {"a": {"a": 2}}]', "x.json") == [{"a": 1}, {"a": {"a": 2}}]


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16", "utf-16-be", "utf-16-le", "utf-32", "utf-32-be", "utf-32-le"])
def test_other_encodings_are_named(codec: str) -> None:
    named = {"utf-8": "UTF-8 with a byte-order mark"}.get(codec[:5] if codec.endswith("sig") else "", codec[:6].upper())
    with pytest.raises(InputError, match=f"is {named}, not plain UTF-8"):
        jsonfile.load('{"id": "ä"}'.encode(codec), "x.json")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "is empty"),
        (b" \n\t", "is empty"),
        (b"[NaN]", "NaN at line 1 column 2"),
        (b'{"a":\n -Infinity}', "Infinity at line 2"),
        (b"[1e999]", "number is infinity"),
        (b"[1] [2]", "unexpected content after document"),
        (b"[1,]", "not JSON"),
        (b'{"a": 1', "not JSON"),
        (b"\xff\xff", "UTF-8"),
        (b'["\xe4"]', "UTF-8"),
        (b'["\\ud800"]', "surrogate"),
        (b"\x00\x00", "not JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b"[" * 100_000 + b"]" * 100_000, "nested too deeply"),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "nested too deeply"),
    ],
)
def test_refusals(data: bytes, said: str) -> None:
    with pytest.raises(InputError) as error:
        jsonfile.load(data, "dir/x.json")
    assert error.value.file == "dir/x.json"
    assert said in error.value.what


def test_deep_text_that_the_count_cannot_judge_is_read_or_refused() -> None:
    deep = b'{"a":' * 1000 + b'{"b":":"}' + b"}" * 1000
    try:
        assert type(jsonfile.load(deep, "x")) is dict
    except InputError as error:  # where the standard library gives up sooner
        refused = str(error)
        assert jsonfile.TOO_DEEP in refused


def test_numbers_at_the_edge() -> None:
    assert jsonfile.load(b"[18446744073709551615, -9223372036854775808]", "x") == [2**64 - 1, -(2**63)]
    beyond = jsonfile.load(b"[18446744073709551616]", "x")
    assert type(beyond[0]) is float


@given(st.binary(max_size=30))
def test_any_bytes_give_a_value_or_one_line(data: bytes) -> None:
    for load in (jsonfile.load, jsonfile.load_lines):
        try:
            load(data, "x.json")
        except InputError as error:
            refused = str(error)
            assert refused.isprintable()


@given(
    st.lists(st.dictionaries(TEXT, VALUES, max_size=4), min_size=1, max_size=5),
    SEPARATORS,
    st.sampled_from(["\n", "\r\n", "\n\n"]),
)
def test_lines(values: list[Any], separators: tuple[str, str], end: str) -> None:
    flat = [text_of(v, separators).replace(b"\n", b" ") for v in values]
    read = jsonfile.load_lines(end.encode().join(flat) + b"\n", "x.jsonl")
    step = end.count("\n")
    assert read == [(1 + i * step, json.loads(line)) for i, line in enumerate(flat)]


def test_a_text_whose_values_would_fill_the_memory_is_refused_before_it_is_parsed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(jsonfile, "MOST_MEMORY", 1 << 20)
    for load, text in (
        (jsonfile.load, b"[" + b"{}," * 20_000 + b"{}]"),
        (jsonfile.load, b"[" + b"[]," * 20_000 + b"[]]"),
        (jsonfile.load, b"[" + b"1," * 40_000 + b"1]"),
        (jsonfile.load_lines, b"{}\n" * 5_000),
    ):
        with pytest.raises(InputError, match=r"bytes of JSON whose values would take about \d+ MiB of memory"):
            load(text, "x.json")
    assert len(jsonfile.load(b"[" + b"{}," * 5_000 + b"{}]", "x.json")) == 5_001


def test_a_line_that_is_no_object_ends_the_reading() -> None:
    with pytest.raises(InputError, match=r"x\.jsonl, line 2: is no JSON object"):
        jsonfile.load_lines(b'{"a": 1}\n[]\n{', "x.jsonl")


def test_other_encodings_are_called_so() -> None:
    for data in ('{"ä": 1}'.encode("latin-1"), b"\x1f\x8b\x08\x00\x00\x00\x00\x01\xff"):
        with pytest.raises(
            InputError, match=r"is not UTF-8 text: another encoding, or no text at all \(compressed\?\)"
        ):
            jsonfile.load(data, "x.json")


def test_a_fault_in_a_line_is_named_with_its_line() -> None:
    with pytest.raises(InputError, match="line 3: not JSON"):
        jsonfile.load_lines(b'{"a": 1}\n\n{"a": }\n', "x.jsonl")
    with pytest.raises(InputError, match="line 2: 1 keys stand more than once"):
        jsonfile.load_lines(b'{"a": 1}\n{"a": 1, "a": 2}\n', "x.jsonl")


def test_the_collector_runs_again_afterwards() -> None:
    assert gc.isenabled()
    with pytest.raises(InputError):
        jsonfile.load(b"[", "x")
    jsonfile.load(b"[]", "x")
    assert gc.isenabled()
