"""What is read of a page, and when what is printed is what is shown."""

from pathlib import Path

import pytest

from e2e.guides.pages import Command, Manifest, NotPlayed, steps
from e2e.guides.printed import is_shown

PAGE = """\
1. Make it:

   ```yaml
   kind: Job
   ```

   ```
   $ kubectl get jobs \\
       -A
   NAME   AGE
   $ cat <<END
   a
   END
   ```

<!-- not played: needs the moon -->
```
fly
```

```
train &
kill $!
for one in a b; do
  echo $one; done
```

```python
nothing to type
```
"""


def test_a_page_is_read_in_its_order(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    manifest, *rest = steps(page)
    assert isinstance(manifest, Manifest)
    assert manifest.documents == ({"kind": "Job"},)
    assert rest == [
        Command("kubectl get jobs \\\n    -A", ("NAME   AGE",)),
        Command("cat <<END\na\nEND"),
        NotPlayed("needs the moon"),
        Command("train &\nkill $!"),
        Command("for one in a b; do\n  echo $one; done"),
    ]


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("job-a-05aeb  3s", "job-a-131b5   12m3s", True),
        ("job-a-05aeb  3s", "job-b-131b5   12m3s", False),
        ("a\n…\nc", "a\nb\nb\nc", True),
        ("a\n…\nc", "a\nb", False),
        ("it waits: … more", "it waits: 3 cpu more", True),
        ("NAME\na\nb", "NAME\nb\na", False),
        ("…\na-05aeb Done", "a-131b5 Begun\na-131b5 Saving\na-131b5 Done", True),
        ("job-a-05aeb True\njob-a-131b5", "job-a-0c3b7\njob-a-77e10 True", True),
        ("job-a-05aeb True\njob-b-131b5", "job-b-0c3b7\njob-a-77e10 True", False),
        ("a-05aeb Begun\na-05aeb Done", "a-131b5 Begun\na-131b5 Done", True),
        ("a-05aeb Begun\na-05aeb Done", "a-131b5 Done\na-131b5 Begun", False),
        ("a-05aeb Begun\na-77e10 Done", "a-131b5 Done\na-131b5 Begun", False),
        ("a-05aeb Begun\na-05aeb Done", "a-131b5 Done\na-0c3b7 Begun", False),
        ("a", "a\nb", False),
    ],
)
def test_only_what_differs_each_time_may_differ(shown: str, printed: str, *, same: bool) -> None:
    assert is_shown(shown.splitlines(), printed) is same


def test_a_block_of_a_language_that_nobody_knows_is_not_passed_over(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```bash\nfly\n```\n")
    with pytest.raises(AssertionError, match="neither played nor known"):
        steps(page)
