"""``driftproof check``: does a certificate prove its bound, a counterexample refute its own?"""

from pathlib import Path

import click

from driftproof.commands import _shared as shared
from driftproof.toolkit.discover import text_of
from driftproof.toolkit.errors import DriftproofError


@click.command()
@click.argument("certificates", nargs=-1, metavar="CERTIFICATE...")
@click.option(
    "--standalone",
    is_flag=True,
    help="Print the checker as one file, which needs Python and python-flint alone.",
)
def command(certificates: tuple[str, ...], standalone: bool) -> int:
    """Check certificates of worst cases: exactly, without a solver.

    A counterexample's file is checked too: that its functions are of the class, and exceed the
    bound. The exit status is 0 if every file shows what it says, 1 if one does not, 2 if one cannot
    be read. docs/certificates.md says how to read them. For somebody who has no driftproof:
    driftproof check --standalone > check.py
    """
    if standalone:
        if certificates:
            raise DriftproofError(
                f"--standalone and {certificates[0]}",
                "the checker as a file, or a check",
                "driftproof check --standalone > check.py; python check.py FILE",
            )
        from driftproof.verifiers.worst_case.one_file import one_file

        click.echo(one_file(), nl=False)
        return 0
    if not certificates:
        raise DriftproofError(
            "no certificate",
            "files that driftproof verify writes into DIR/certificates/",
            "driftproof check report-mine/certificates/*, say",
        )
    from driftproof.verifiers.worst_case.checking import main

    try:
        return main(certificates, lambda name: text_of_certificate(Path(name)), shared.tell)
    except ValueError as error:
        raise DriftproofError(
            str(error),
            "a file as docs/certificates.md describes it",
            "let driftproof verify write it again",
        ) from None


def text_of_certificate(path: Path) -> str:
    """Return what a file holds."""
    try:
        return text_of(path)
    except (OSError, UnicodeDecodeError) as error:
        raise DriftproofError(
            f"{path}: {error}", "a certificate, a JSON file", "check the path"
        ) from None
