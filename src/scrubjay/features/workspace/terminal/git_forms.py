"""The subcommands and options of git that only read, and that start no program."""

from collections.abc import Sequence

from scrubjay.features.workspace.terminal.argument_forms import Check, WordForms, exactly, refusal

_VALUE = r"[\w.,:@%/~^+-]*"
# -O, --output, --ext-diff, --textconv, --no-index, --submodule and --ignore-submodules are left out on purpose, and of
# the revisions --alternate-refs, which starts a configured program.
_DIFF = (
    r"-[psuzwbRaWmctrq]|-[UMCBlXD]\d*%?|-U\d+|--cc|--patch|--no-patch|--raw|--patch-with-stat|--patch-with-raw"
    r"|--(stat|dirstat|word-diff|color|color-moved|color-words|abbrev|find-renames|find-copies|break-rewrites"
    rf"|relative|cumulative)(={_VALUE})?"
    rf"|--(unified|inter-hunk-context|diff-algorithm|diff-filter|anchored|word-diff-regex|diff-merges|ws-error-highlight"
    rf"|stat-width|stat-count|stat-name-width|stat-graph-width|src-prefix|dst-prefix|rotate-to|skip-to|find-object"
    rf"|color-moved-ws)={_VALUE}"
    r"|--(numstat|shortstat|compact-summary|summary|name-only|name-status|minimal|patience|histogram|indent-heuristic"
    r"|no-color|no-color-moved|no-renames|no-relative|no-prefix|default-prefix|full-index|binary|text|check|exit-code"
    r"|quiet|ignore-space-at-eol|ignore-cr-at-eol|ignore-space-change|ignore-all-space|ignore-blank-lines"
    r"|function-context|pickaxe-all|pickaxe-regex|find-copies-harder|root|combined-all-paths|irreversible-delete"
    r"|no-ext-diff|no-textconv)"
)
_DIFF_VALUED = r"-[SGl]|--unified|--diff-filter|--find-object|--diff-algorithm"
_DIFF_ATTACHED = r"-[SG].+"
_REVISIONS = (
    r"-\d{1,9}|-n\d{1,9}|-[iEFPgq]|--not"
    rf"|--(since|until|after|before|author|committer|grep|grep-reflog|max-count|skip|glob|exclude|max-parents"
    rf"|min-parents|since-as-filter|max-age|min-age)=[^%]*"
    rf"|--(branches|tags|remotes|ancestry-path|no-walk|cherry-mark|show-linear-break)(={_VALUE})?"
    r"|--(all|reflog|walk-reflogs|merges|no-merges|first-parent|exclude-first-parent-only|reverse|topo-order|date-order"
    r"|author-date-order|all-match|invert-grep|regexp-ignore-case|basic-regexp|extended-regexp|fixed-strings"
    r"|perl-regexp|remove-empty|left-right|left-only|right-only|cherry-pick|cherry|boundary|simplify-by-decoration"
    r"|full-history|dense|sparse|simplify-merges|show-pulls|merge|parents|children|count|objects)"
)
_REVISIONS_VALUED = (
    r"-n|--since|--until|--after|--before|--author|--committer|--grep|--max-count|--skip|--glob|--exclude"
)
# %G in a format would start gpg.
_FORMAT = r"(?!.*%[-+ ]?G).*"
_SHOWN = (
    rf"--(format|pretty)={_FORMAT}|--(date|encoding|notes|show-notes|decorate|decorate-refs|decorate-refs-exclude)"
    rf"={_VALUE}|--pretty"
    r"|--(oneline|graph|decorate|no-decorate|abbrev-commit|no-abbrev-commit|abbrev|no-abbrev|relative-date|follow"
    r"|notes|no-notes|source|use-mailmap|no-use-mailmap|mailmap|no-mailmap|full-diff|log-size|clear-decorations"
    r"|expand-tabs|no-expand-tabs|no-commit-id|always)|-L[\w,:+./-]+|-z"
)
_SHOWN_VALUED = r"-L|--date"


def _forms(*words: str, valued: Sequence[str] = (), operands: str | None = r".*") -> WordForms:
    return WordForms("|".join(words), "|".join(valued) or r"(?!)", operands)


_log = _forms(_SHOWN, _REVISIONS, _DIFF, _DIFF_ATTACHED, valued=(_SHOWN_VALUED, _REVISIONS_VALUED, _DIFF_VALUED))
_tree_diff = _forms(
    *(_DIFF, _DIFF_ATTACHED, r"--cached|--merge-base|--no-commit-id|--always"),
    *(rf"--(format|pretty)={_FORMAT}|-v|-z",),
    valued=(_DIFF_VALUED,),
)
_SUBCOMMANDS: dict[str, Check] = {
    "status": _forms(
        r"-s|-b|-sb|-bs|-z|-uno|-unormal|-uall|-u|--short|--branch|--show-stash|--long|--ahead-behind|--no-ahead-behind"
        r"|--renames|--no-renames|--(porcelain|untracked-files|ignored|find-renames|column)(=[\w,%]+)?|--no-column"
    ),
    "log": _log,
    "show": _log,
    "diff": _forms(
        *(_DIFF, _DIFF_ATTACHED, r"--cached|--staged|--merge-base|--base|--ours|--theirs|-[0-3]"),
        valued=(_DIFF_VALUED,),
    ),
    "diff-tree": _tree_diff,
    "diff-index": _tree_diff,
    "rev-list": _forms(_REVISIONS, _SHOWN, r"--timestamp|--header|--bisect|--disk-usage", valued=(_REVISIONS_VALUED,)),
    "shortlog": _forms(
        *(_REVISIONS, r"-[snec]{1,4}|-w[\d,]*|--numbered|--summary|--email|--committer"),
        rf"--group={_VALUE}",
        valued=(rf"(?!-n$)(?:{_REVISIONS_VALUED})",),  # -n sorts by number here
    ),
    "rev-parse": _forms(
        r"-q|--(verify|quiet|symbolic|symbolic-full-name|show-toplevel|show-prefix|show-cdup|git-dir|absolute-git-dir"
        r"|git-common-dir|is-inside-work-tree|is-inside-git-dir|is-bare-repository|is-shallow-repository|all|branches"
        r"|tags|remotes|show-object-format|not|revs-only|no-revs|flags|no-flags)"
        rf"|--(abbrev-ref|short|branches|tags|remotes|path-format)={_VALUE}|--abbrev-ref|--short"
    ),
    "ls-files": _forms(
        r"-[cdmoisutzvkf]|--(cached|deleted|modified|others|ignored|stage|unmerged|killed|directory|no-empty-directory"
        rf"|exclude-standard|error-unmatch|full-name|deduplicate|debug)|--abbrev(=\d+)?|--exclude={_VALUE}|-x.+",
        valued=(r"-x|--exclude",),
    ),
    "ls-tree": _forms(
        r"-[drtlz]|--(long|name-only|name-status|object-only|full-name|full-tree)|--abbrev(=\d+)?|-(rt|rl|rd|rz|lr)"
    ),
    "blame": _forms(
        r"-[cbltsefnwpkMC]|-[MC]\d+|-L[\w,:+./-]+|--(root|show-stats|show-name|show-number|show-email|porcelain"
        r"|line-porcelain|incremental|minimal|score-debug|color-lines|color-by-age|progress|no-progress|first-parent)"
        rf"|--(date|since|abbrev)={_VALUE}|--reverse",
        valued=(r"-L|--date|--since|--abbrev",),
    ),
    "describe": _forms(
        rf"--(all|tags|contains|always|long|first-parent|exact-match|debug)|--(abbrev|candidates|match|exclude)={_VALUE}",
        valued=(r"--match|--exclude|--abbrev|--candidates",),
    ),
    "cat-file": _forms(r"-[tspe]"),
    "grep": _forms(
        r"-[aIiwvhHEGPFnlLzocpWqr]|-[ABCm]\d+|-\d+|-e.+|-[ivwnlcohHEFGPpW]{2,8}|--(text|ignore-case|word-regexp"
        r"|invert-match|full-name|extended-regexp|basic-regexp|perl-regexp|fixed-strings|line-number|column"
        r"|files-with-matches|name-only|files-without-match|null|only-matching|count|break|heading|show-function"
        r"|function-context|all-match|and|or|not|cached|untracked|quiet|no-color|recursive|no-recursive)"
        r"|--(color|max-depth|context|after-context|before-context|max-count|threads)(=\w+)?",
        valued=(
            r"-[ABCm]|-[ivwnlcohHEFGPpW]{0,8}e|--max-depth|--context|--after-context|--before-context|--max-count",
        ),
    ),
    "merge-base": _forms(r"-a|--(all|octopus|independent|is-ancestor|fork-point)"),
    "name-rev": _forms(rf"--(tags|all|always|name-only|undefined|no-undefined)|--(refs|exclude)={_VALUE}"),
    "count-objects": _forms(r"-v|-H|-vH|-Hv|--verbose|--human-readable", operands=None),
    "for-each-ref": _forms(
        rf"--(count|sort|points-at|exclude)={_VALUE}|--(merged|no-merged|contains|no-contains)(={_VALUE})?|--ignore-case"
    ),
    "branch": _forms(
        r"-a|-r|-v|-vv|-av|-avv|-rv|-ra|-ar|--all|--remotes|--verbose|--list|-l|--show-current|--merged|--no-merged"
        r"|--sort=[\w:,-]+|--no-color|--no-column",
        valued=(r"--contains|--no-contains|--points-at",),
        operands=None,
    ),
    "tag": _forms(
        r"-l|--list|-n\d*|--merged|--no-merged|--sort=[\w:,-]+|--no-column",
        valued=(r"--contains|--no-contains|--points-at",),
        operands=None,
    ),
    "remote": exactly(r"|-v|--verbose|get-url( --push| --all)? \w[\w./-]*"),
    "stash": exactly(r"list"),
    # A first word without `show` could be another subcommand.
    "reflog": exactly(r"|(show )?-\d{1,6}|show( -\d{1,6})?( \w[\w./@-]*)?"),
    "show-ref": _forms(r"-[dsq]|--(head|heads|branches|tags|dereference|verify|quiet)|--(hash|abbrev)(=\d+)?"),
    # With a second name it would write.
    "symbolic-ref": exactly(r"(-q |--quiet |--short )*HEAD"),
    "check-ignore": _forms(r"-[vqn]{1,3}|--(verbose|quiet|non-matching|no-index)"),
    "worktree": exactly(r"list( --porcelain)?"),
}
_LISTS = frozenset({"branch", "tag", "remote", "stash", "reflog", "worktree"})
_VERSIONS = (("--version",), ("version",), ("-v",))


def check_git(arguments: Sequence[str]) -> str | None:
    """Return the problem with the arguments of git, or None."""
    if not arguments or tuple(arguments) in _VERSIONS:
        return None
    subcommand, *others = arguments
    if subcommand.startswith("-") or "" in arguments:
        return refusal(subcommand)
    if (check := _SUBCOMMANDS.get(subcommand)) is None:
        return f"{subcommand[:60]} is not allowed; only read-only subcommands are"
    problem = check(others)
    return f"{subcommand} may only list" if problem is not None and subcommand in _LISTS else problem
