"""The documentation site: ``make docs`` builds it into docs/_build/html, warnings as errors."""

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "extensions"), str(HERE.parent)]

from driftproof.toolkit import __version__  # noqa: E402 - the checkout's, once its folder is on the path

project = "driftproof"
author = "The driftproof developers"
project_copyright = "2026, the driftproof developers; MIT licence"
version = release = __version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "folded",
    "map_of_statements",
    "plots",
    "reference",
    "typeset_math",
]
exclude_patterns = ["_build", "extensions", "**/.ipynb_checkpoints"]

# Markdown, as GitHub reads it
myst_enable_extensions = ["dollarmath"]
myst_fence_as_directive = ["math"]
myst_heading_anchors = 4
myst_links_external_new_tab = False

# make docs runs the notebooks, so that they show their plots, and judges the claims whose plots
# stand on pages; tests build the site with one page's plots, and run each notebook in a test
nb_execution_mode = "force" if os.environ.get("DRIFTPROOF_EXECUTE") else "off"
plots_on = None if os.environ.get("DRIFTPROOF_EXECUTE") else ["phenomena"]
nb_execution_raise_on_error = True
nb_execution_timeout = 600

autodoc_member_order = "bysource"
autodoc_typehints = "none"
napoleon_numpy_docstring = False
napoleon_use_ivar = True
add_module_names = False
python_maximum_signature_line_length = 80
# types of other libraries, and of parts that are not public, have no entry to link to
nitpick_ignore_regex = [("py:.*", ".*")]

# the site's address, with "/" at its end, once it has one: errata are cited by it
html_baseurl = ""

html_theme = "furo"
html_title = "driftproof"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_math_renderer = "typeset"
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True
copybutton_line_continuation_character = "\\"
