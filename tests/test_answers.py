"""What handlers answer: an event that says nothing leaves the page as it is, and one that is ended ends what it asked for."""

import gradio as gr
import pytest

from app.answers import spoken


@pytest.mark.parametrize(("answers", "found"), [((), [gr.skip()]), (("a",), ["a"]), (("a", "b"), ["a", "b"])])
def test_a_handler_that_says_nothing_skips_and_any_other_is_as_it_was(answers, found):
    @spoken
    def handler():
        yield from answers

    assert list(handler()) == found and handler.__name__ == "handler"


def test_a_page_that_is_left_ends_the_handler():
    ended = []

    @spoken
    def handler(values, request: gr.Request):
        try:
            yield values
            yield "more"
        finally:
            ended.append(True)

    going = handler("a", None)
    assert next(going) == "a" and not ended
    going.close()
    assert ended == [True]
