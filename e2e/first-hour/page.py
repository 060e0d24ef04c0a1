"""Takes a page apart that a reader follows with a terminal and an editor.

    page.py PAGE FOLDER     writes the files that the page shows to FOLDER, and
                            its commands to FOLDER/steps, one file a block

A block that is fenced as "sh step" has commands. A block whose fence names a
file, such as "python app.py", is that file. A step is named by its number and
the heading that it stands below.
"""

import pathlib
import re
import sys

BLOCK = re.compile(r"^## (?P<heading>[^\n]+)$|^```(?P<language>\w+) (?P<name>\S+)\n(?P<text>.*?)^```$", re.M | re.S)


def take_apart(page, folder):
    heading, steps = "", 0
    (folder / "steps").mkdir(parents=True)
    for block in BLOCK.finditer(page.read_text()):
        if block["heading"]:
            heading = block["heading"]
        elif block["name"] == "step":
            steps += 1
            (folder / "steps" / f"{steps:02} {heading}").write_text(block["text"])
        else:
            (folder / block["name"]).write_text(block["text"])
    if not steps:
        sys.exit(f"{page} has no step")


if __name__ == "__main__":
    take_apart(*map(pathlib.Path, sys.argv[1:]))
