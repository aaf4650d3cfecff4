"""Readmes become plain paragraphs."""

from models.markup import paragraphs, plain_text, remove_code, remove_links


def test_paragraphs_of_a_readme_are_read_and_the_first_under_a_heading_has_it():
    readme = """Pool of things
==============

[![badge](x)](y) A pool keeps [connections](http://x) open so that `work` can begin at once.

```python
pool = Pool()
```

## Closing the pool
Every connection is closed in turn, and then the pool waits for all of them.

It is safe to close a pool two times, and nothing happens then.

.. note:: a directive is not a paragraph of prose at all, here or there

    code that is indented is not a paragraph of prose at all here
"""

    assert list(paragraphs(readme)) == [
        ("Pool of things", "A pool keeps connections open so that work can begin at once."),
        ("Closing the pool", "Every connection is closed in turn, and then the pool waits for all of them."),
        ("", "It is safe to close a pool two times, and nothing happens then."),
    ]


def test_markup_becomes_plain_text():
    assert (
        plain_text("See **the** [guide](http://x) <b>now</b> at https://example.org ![i](j)") == "See the guide now at"
    )


def test_an_unclosed_fence_extends_to_the_end():
    assert remove_code("Text.\n```\ncode\n```\nMore.\n~~~\ncode") == "Text.\n\n\nMore.\n"


def test_a_link_is_replaced_by_its_text():
    assert remove_links("[![badge](x)](y)See [the `guide`][1] and [`Pool`].") == "See the `guide` and `Pool`."
