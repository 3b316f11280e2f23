"""How Sphinx builds the site from these pages and the docstrings: `make docs`."""

import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from docutils import nodes
from from_code import fill
from sphinx.domains.python import PyXRefRole

import unchurn

project = "unchurn"
author = "The unchurn developers"
release = version = unchurn.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
]
exclude_patterns = ["reproduction/*"]  # runs that are being made may lie there
myst_heading_anchors = 4  # as GitHub names them

default_role = "name"
napoleon_google_docstring = False
napoleon_use_param = False  # several parameters may share a line
napoleon_use_ivar = True
autosummary_generate = False
autodoc_member_order = "bysource"
autodoc_default_options = {  # what scikit-learn adds to every estimator
    "exclude-members": "set_fit_request, set_score_request, get_metadata_routing",
}
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
autodoc_type_aliases = {"npt.ArrayLike": "ArrayLike"}
autodoc_inherit_docstrings = False  # of what scikit-learn adds, its own pages tell
python_maximum_signature_line_length = 80
toc_object_entries_show_parents = "hide"

# Nothing is asked of the network: fonts are the system's, scripts and icons come with the theme.
html_theme = "pydata_sphinx_theme"
html_title = "unchurn"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_favicon = "static/icon.svg"
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {"index": [], "install": [], "tutorial": [], "gallery": []}
html_context = {"default_mode": "auto"}  # light or dark, as the reader's system has it
html_theme_options = {
    "logo": {"text": "unchurn", "image_light": "static/icon.svg", "image_dark": "static/icon.svg"},
    "navbar_align": "left",
    "navbar_persistent": ["search-button"],
    "header_links_before_dropdown": 7,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_toc_level": 1,
}
copyright = "The unchurn developers; Apache-2.0"

# What functions return: nobody calls these classes, so their long signatures are left out.
RETURNED = {
    "Flips", "ChurnSummary", "Comparison", "Verdict", "Blend", "OffLabelMass", "Upgraded", "Result",
}  # fmt: skip


class Name(PyXRefRole):
    """What docstrings write between single backticks: a link if it is a name of unchurn's."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Link it to where it is documented, or show it as code."""
        name = self.text.removeprefix("unchurn.")
        if name not in unchurn.__all__:
            return [nodes.literal(self.rawtext, self.text)], []
        self.name, self.target, self.title = "py:obj", f"unchurn.{name}", self.text
        self.refdomain, self.reftype, self.classes = "py", "obj", ["xref", "py", "py-obj"]
        return self.create_xref_node()


def _signature(
    app: Any, what: str, name: str, obj: Any, options: Any, signature: str | None, returns: Any
) -> tuple[str | None, Any]:
    """None for what is only ever returned; else with the alias as it is written in the code."""
    if what == "class" and name.removeprefix("unchurn.") in RETURNED:
        return "", None
    return signature and signature.replace("TypeAliasForwardRef('ArrayLike')", "ArrayLike"), returns


def _link_pages(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Where a docstring names a page of docs/, link it."""
    lines[:] = [re.sub(r"docs/(\w+)\.md", r":doc:`/\1`", line) for line in lines]


def setup(app: Any) -> None:
    """Connect what fills pages from the code."""
    app.add_role("name", Name())
    app.connect("source-read", fill)
    app.connect("autodoc-process-signature", _signature)
    app.connect("autodoc-process-docstring", _link_pages)
