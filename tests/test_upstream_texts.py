from pathlib import Path

TEXTS = Path(__file__).parents[1] / "thoughts/upstream"


def test_the_index_names_every_text():
    index = (TEXTS / "README.md").read_text()
    for text in TEXTS.glob("*.md"):
        title = text.read_text().splitlines()[0].removeprefix("# ")
        assert text.name == "README.md" or f"- [{text.name}]({text.name}): {title}\n" in index
