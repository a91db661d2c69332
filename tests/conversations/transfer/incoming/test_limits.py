"""What is too much is refused in a sentence that names the limit, and never taken into memory."""

import io
import json
import random
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.models import Conversation
from conversations.text import clean
from conversations.transfer.incoming import units as cutting
from conversations.transfer.incoming.containers import Archive, Container, opened_container
from conversations.transfer.incoming.limits import FileRefused, Limits
from conversations.transfer.incoming.units import Broken, Unit, units
from tests.conversations.transfer.incoming import samples
from tests.conversations.transfer.incoming.conftest import BringIn


def cut(sent: bytes, **limits: int) -> list[Unit]:
    return list(units(lambda: io.BytesIO(sent), limits=Limits(**limits)))


def values(sent: bytes) -> list[Any]:
    return [unit.value for unit in cut(sent)]


def test_items_of_a_list_or_the_one_object_are_the_conversations() -> None:
    assert values(b'[{"a": 1}, {"b": [1, {"c": null}]}, 3, [[]]]') == [{"a": 1}, {"b": [1, {"c": None}]}, 3, [[]]]
    assert values(b'\xef\xbb\xbf{"a": {"b": [true, 1.5, 1e999]}}') == [{"a": {"b": [True, 1.5, float("inf")]}}]


@given(st.lists(st.text(st.characters(categories=["L", "S", "P", "Cs", "Cc"]), max_size=12)), st.integers(1, 9))
def test_halves_of_pairs_are_mended_wherever_the_file_is_cut(texts: list[str], size: int) -> None:
    sent = json.dumps(texts).encode()
    cutting.CHUNK, usual = size, cutting.CHUNK
    try:
        found = values(sent)
    finally:
        cutting.CHUNK = usual
    assert [clean(one) for one in found] == [clean(one) for one in texts]


@pytest.mark.parametrize(
    ("sent", "place"),
    [
        (b'[{"a": 1},\n{"b": 1,}]', "in line 2, at byte 20"),
        (b'[{"a": 1}', "too early: in line 1, after byte 9"),
        (b'[{"a": NaN}]', "at byte 8"),
        (b'["\xff"]', "at byte 3"),
        (b"[1] [2]", "at byte 5"),
        ("[1]".encode("utf-16"), "Save it in UTF-8"),
        ("[1]".encode("utf-32-be"), "Save it in UTF-8"),
        (b"9" * 5000, "ends too early"),
        (b"[" + b"9" * 5000 + b"]", "at byte 5,002"),
        (b"[" + b"1," * 50_000 + b"\n?]", "in line 2, at byte 100,003"),
    ],
)
def test_the_place_of_an_error_is_told(sent: bytes, place: str) -> None:
    with pytest.raises(Broken, match=place):
        cut(sent)


def test_what_comes_before_an_error_is_there() -> None:
    found = units(lambda: io.BytesIO(b'[{"a": 1}, {"b": 2}, {"c": 3'))
    assert [next(found).value, next(found).value] == [{"a": 1}, {"b": 2}]
    with pytest.raises(Broken):
        next(found)


@pytest.mark.parametrize(
    ("large", "limits", "why"),
    [
        (["y" * 1000] * 500, {"conversation_bytes": 200_000}, "larger than 200,000 bytes"),
        ([1] * 100, {"values": 50}, "more than 50 values"),
        ([[[[[[]]]]]], {"depth": 3}, "deeper than 3 levels"),
    ],
)
def test_one_that_is_too_much_is_passed_over(large: Any, limits: dict[str, int], why: str) -> None:
    first, second, third = cut(json.dumps([{"a": 1}, {"b": large}, {"c": 1}]).encode(), **limits)
    assert (first.value, third.value, why in second.refused) == ({"a": 1}, {"c": 1}, True)


def test_a_text_without_end_is_not_waited_for() -> None:
    with pytest.raises(FileRefused, match="a text of more than 300,000 bytes"):
        cut(json.dumps(["x" * 700_000]).encode(), text_bytes=300_000)


def zip_of(**limits: int) -> Callable[[bytes], Archive]:
    return lambda sent: Archive(io.BytesIO(sent), Limits(**limits))


def read_all(archive: Container) -> int:
    size = 0
    for opened in archive.documents():
        with opened() as file:
            while piece := file.read(50_000):
                size += len(piece)
    return size


def test_a_bomb_is_stopped_by_what_it_unpacks_to() -> None:
    bomb = samples.archive({"conversations.json": b"[" + b" " * 30_000_000})
    with pytest.raises(FileRefused, match="more than 200 times its size"):
        read_all(zip_of()(bomb))
    with pytest.raises(FileRefused, match="Unpacked it has more than 2,000,000 bytes"):
        read_all(zip_of(expanded_bytes=2_000_000)(samples.archive({"a.json": random.randbytes(3_000_000)})))


def test_a_zip_that_lies_of_its_sizes_is_counted_as_it_comes() -> None:
    bomb = bytearray(samples.archive({"conversations.json": b"[" + b" " * 30_000_000}))
    entry = bomb.rfind(b"PK\x01\x02")
    for told, why in ((100, "damaged"), (2**31, "200 times")):
        struct.pack_into("<L", bomb, entry + 24, told)
        with pytest.raises(FileRefused, match=why):
            read_all(zip_of()(bytes(bomb)))


def test_too_many_entries_are_refused_before_the_list_is_read() -> None:
    many = samples.archive({f"{number}.json": "" for number in range(30)})
    with pytest.raises(FileRefused, match="more than 20 entries"):
        zip_of(entries=20)(many)
    with pytest.raises(FileRefused, match="more than"):
        zip_of(directory_bytes=500)(many)
    # Its end says that there are few; the list itself is as long as it is.
    end = many.rfind(b"PK\x05\x06")
    lying = many[: end + 8] + struct.pack("<HH", 1, 1) + many[end + 12 :]
    with pytest.raises(FileRefused, match="more than"):
        zip_of(directory_bytes=500)(lying)


@pytest.mark.parametrize("spoil", [lambda b: b[:-30], lambda b: b[:60] + b"\0" * 40 + b[100:], lambda b: b"PK" + b[5:]])
def test_a_damaged_zip_is_said_to_be_one(spoil: Callable[[bytes], bytes], tmp_path: Path) -> None:
    sound = samples.archive({"conversations.json": samples.sent(samples.talk())})
    with pytest.raises(FileRefused, match="damaged"):
        read_all(opened_container(io.BytesIO(spoil(sound)), tmp_path))


def test_names_lead_nowhere(bring_in: BringIn, tmp_path: Path) -> None:
    sent = samples.archive(
        {
            "../../../../tmp/evil.json": samples.sent(samples.talk()),
            "/etc/passwd": b"x",
            "file-Ab1/../../x.png": samples.PNG,
            "C:\\evil.json": "[]",
        }
    )
    before = {path for path in tmp_path.rglob("*") if path.is_file()}
    assert bring_in(sent).imported == 1
    assert {path for path in tmp_path.rglob("*") if path.is_file()} == before


def test_a_zip_with_a_password_is_refused_with_what_helps() -> None:
    locked = bytearray(samples.archive({"conversations.json": "[]"}))
    locked[locked.find(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(FileRefused, match="asks for a password"):
        read_all(zip_of()(bytes(locked)))


def test_an_unusual_packing_is_refused() -> None:
    sent = io.BytesIO()
    with zipfile.ZipFile(sent, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("conversations.json", "[]")
    with pytest.raises(FileRefused, match="unusual way"):
        read_all(zip_of()(sent.getvalue()))


def test_pictures_are_what_their_bytes_say(bring_in: BringIn, owner: Any) -> None:
    script = samples.archive(
        {"conversations.json": samples.sent(samples.talk()), "file-Ab1-cat.png": b"<svg onload=alert(1)>"}
    )
    bring_in(script)
    kinds = {
        block["type"]
        for content in Conversation.objects.filter(owner=owner).values_list("messages__content", flat=True)
        for block in content
    }
    assert "image" not in kinds


def test_the_number_of_conversations_has_an_end(bring_in: BringIn) -> None:
    many = [samples.chatgpt(samples.node("q", None, "user", f"{n}"), conversation_id=str(n)) for n in range(5)]
    run = bring_in(samples.sent(*many), limits=Limits(conversations=3))
    assert (run.status, run.imported, "more than 3 conversations" in run.error) == ("failed", 3, True)


def test_parts_of_a_large_export_are_read_in_order(bring_in: BringIn, owner: Any) -> None:
    parts: dict[str, bytes | str] = {
        f"conversations-{n:03}.json": samples.sent(
            samples.chatgpt(samples.node("q", None, "user", "?"), conversation_id=str(n), title=f"T{n}")
        )
        for n in (2, 0, 1)
    }
    parts["message_feedback.json"] = '[{"id": "f", "rating": "thumbs_up"}]'
    parts["shared_conversations.json"] = "[]"
    parts["chat.html"] = "<html>"
    run = bring_in(samples.archive(parts))
    titles = run.results.order_by("number").values_list("conversation__title", flat=True)
    assert (list(titles), run.refused, run.error) == (["T0", "T1", "T2"], 0, "")
