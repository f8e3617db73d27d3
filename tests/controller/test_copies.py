"""Readable copies: made again from the records, one by one."""

from controller.copies import packet_path, restore, review_path


def test_each_copy_that_is_missing_comes_back_and_the_others_are_left(world):
    world.plan({"Top/A": {"writes": {"src/a.txt": "a"}}})
    world.run("--profile", "fast").exits(4)
    with world.context() as ctx:
        packet, review = (at(ctx.roots, ctx.run_id, "Top/A", 1) for at in (packet_path, review_path))
        assert (packet.name, review.name) == ("Top--A--1.yaml", "Top--A--1.json")
        text = review.read_text()
        packet.write_text("mine")
        review.unlink()
        restore(ctx.roots, ctx.records)
        assert review.read_text() == text
        assert packet.read_text() == "mine"
        packet.unlink()
        restore(ctx.roots, ctx.records)
        assert packet.read_text() == ctx.records.attempt("Top/A", 1).packet_yaml
        assert not list(packet.parent.glob("*.part"))
