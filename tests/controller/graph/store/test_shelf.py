import pytest

from controller.graph.store.shelf import Chunks, Lost, Shelf


def nothing(_keys: object) -> dict[bytes, str]:
    return {}


def test_a_shelf_is_a_map_that_never_changes() -> None:
    chunks = Chunks(nothing)
    empty = Shelf(chunks, 4)
    first = empty.roomy(100).replaced({f"k{n}": [n] for n in range(100)})
    second = first.replaced({"k1": None, "k2": ["two"], "new": 1, "never": None})
    assert (empty.count, first.count, second.count) == (0, 100, 100)
    assert empty.get("k1") is None
    assert (first.get("k1"), second.get("k1"), second.get("k2"), second.get("new")) == ([1], None, ["two"], 1)
    assert dict(first.items()) == {f"k{n}": [n] for n in range(100)}


def test_equal_shelves_have_equal_keys_however_they_came_about() -> None:
    chunks = Chunks(nothing)
    one = Shelf(chunks, 4).roomy(50).replaced({f"k{n}": n for n in range(50)})
    two = Shelf(chunks, 4).roomy(50)
    for n in reversed(range(51)):
        two = two.replaced({f"k{n}": n})
    assert one.keys != two.keys
    assert one.keys == two.replaced({"k50": None}).keys


@pytest.mark.parametrize("roomy", [True, False])
def test_only_what_differs_is_said(*, roomy: bool) -> None:
    one = Shelf(Chunks(nothing), 4).roomy(50).replaced({f"k{n}": n for n in range(50)})
    two = one.replaced({"k1": None, "k2": "x", "z": 0})
    other = two.roomy(1000) if roomy else two
    assert sorted(one.differing(other)) == [("k1", 1, None), ("k2", 2, "x"), ("z", None, 0)]
    assert list(other.differing(other)) == []


def test_a_crowded_shelf_gets_room() -> None:
    shelf = Shelf(Chunks(nothing), 2)
    for n in range(200):
        shelf = shelf.roomy(1).replaced({f"k{n}": n})
    assert shelf.buckets >= 32
    assert dict(shelf.items()) == {f"k{n}": n for n in range(200)}


def test_what_is_not_kept_any_more_is_lost() -> None:
    kept: dict[bytes, str] = {}
    chunks = Chunks(lambda keys: {key: kept[key] for key in keys if key in kept}, at_hand=0)
    key = chunks.add({"a": 1})
    assert chunks.get(key) == {"a": 1}
    kept |= chunks.unkept()
    chunks.kept(kept)
    assert not chunks.unkept()
    assert chunks.get(key) == {"a": 1}
    kept[key] = '{"a":2}'
    with pytest.raises(Lost):
        chunks.get(key)
    kept.clear()
    with pytest.raises(Lost):
        chunks.get(key)
